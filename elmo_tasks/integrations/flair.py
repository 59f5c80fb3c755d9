"""
flair: token embeddings in place of `ELMoEmbeddings`, which needs AllenNLP 0.9, and
taggers that were saved with these.
"""

import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.elmo.layer_choice import LayerChoice
from elmo_tasks.elmo.sentence_embedder import Elmo
from elmo_tasks.errors import InputError, needs

with needs("flair"):
    import flair
    from flair.data import Sentence
    from flair.embeddings import StackedEmbeddings
    from flair.embeddings.base import TokenEmbeddings, register_embeddings
    from flair.models import SequenceTagger
    from flair.nn import Model


@register_embeddings("elmo_tasks")
class ElmoEmbeddings(TokenEmbeddings):
    """
    Frozen ELMo vectors of tokens. Takes the arguments of `Elmo.from_pretrained`, but
    runs on the CPU by default. With `layers` `all`, the layers are concatenated, so a
    vector has (L+1) * 2P values. A saved model records the name of the ELMo model, not
    its weights.

    `name` is recorded as well. flair concatenates the vectors of several embeddings in
    the order of their names.
    """

    def __init__(
        self,
        model: str | None = None,
        layers: LayerChoice = "all",
        name: str | None = None,
        **settings: Any,
    ) -> None:
        self._params = {"model": model, "layers": layers} | settings
        self.name = name or f"elmo_tasks-{model or 'default'}-{layers}"
        self.static_embeddings = True
        super().__init__()
        chosen = {"device": "cpu"} | settings
        self._elmo = Elmo.from_pretrained(model, **chosen)
        self._layers = layers
        self._length = self._vectors([["word"]])[0].shape[-1]

    @property
    def embedding_length(self) -> int:
        return self._length

    def to_params(self) -> dict[str, Any]:
        return self._params | {"name": self.name}

    @classmethod
    def from_params(cls, params: dict[str, Any]) -> "ElmoEmbeddings":
        return cls(**params)

    def _add_embeddings_internal(self, sentences: list[Sentence]) -> None:
        words = []
        for sentence in sentences:
            words.append([token.text for token in sentence])
        vectors = self._vectors(words)
        for sentence, rows in zip(sentences, vectors, strict=True):
            for token, row in zip(sentence, rows.to(flair.device), strict=True):
                token.set_embedding(self.name, row)

    def _vectors(self, words: list[list[str]]) -> list[torch.Tensor]:
        """
        The vectors of each sentence [T, 2P], or those of all its layers one after the
        other [T, (L+1) * 2P].
        """
        found = []
        for vectors in self._elmo.embed(words, layers=self._layers, tensors=True):
            if vectors.dim() == 3:  # [L+1, T, 2P]
                vectors = vectors.movedim(0, -2).flatten(-2)
            found.append(vectors)
        return found


_EMBEDDINGS = ("embeddings", "document_embeddings")
"""Where a model of flair, of words or of texts, saves its embeddings."""

_UNFIT = (RuntimeError, TypeError, ValueError, LookupError, AttributeError)
"""Errors of flair while it constructs a model and loads its weights."""

_MODELS = {
    "original": "elmo-original",
    "small": "elmo-small",
    "medium": "elmo-medium",
    "large": "elmo-5.5b",
    "5.5B": "elmo-5.5b",
    "pt": "elmo-portuguese",
    "portuguese": "elmo-portuguese",
    "pubmed": "elmo-pubmed",
}
"""The names of models in flair's `ELMoEmbeddings`, and ours."""


def load_old(
    file: str | Path, model: str | None = None, *, kind: type[Model] = SequenceTagger
) -> Model:
    """
    Load a model that was saved with flair's `ELMoEmbeddings`, without AllenNLP 0.9:
    `ElmoEmbeddings` replaces them. What `save` then writes, flair loads as usual. As
    with flair's own `load`, code in the file is run.

    # Parameters

    - `model`: the biLM, as in `Elmo.from_pretrained`; by default the published one that
      the embeddings are named after.
    - `kind`: the class of the model.

    Raises `InputError` if the file is damaged or has no such embeddings, they have
    another biLM, or the model is not of that class.
    """
    file = Path(file)
    if not file.is_file():
        raise InputError("no such file: a tagger of flair", file=file)
    try:
        state = torch.load(
            file, map_location="cpu", weights_only=False, pickle_module=_OldPickles
        )
    except Exception as error:  # damaged files raise errors of any kind
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"cannot read the tagger: {reason:.200}", file=file) from None
    if not isinstance(state, dict) or not isinstance(state.get("state_dict"), dict):
        problem = f"expected a model of flair, got {type(state).__name__}"
        raise InputError(problem, file=file)
    holder = nn.Module()
    for key in _EMBEDDINGS:
        if key in state:
            setattr(holder, key, state[key])
    old_parts = list(_old_parts(holder))
    if not old_parts:
        raise InputError("expected ELMoEmbeddings of flair, got none", file=file)
    for parent, name in old_parts:
        setattr(parent, name, _renewed(getattr(parent, name), model, file))
    for part in holder.modules():
        if isinstance(part, StackedEmbeddings):
            part.embeddings = list(part.children())
    weights = {}
    for name, weight in state["state_dict"].items():
        if ".ee." not in name:  # the biLM's
            weights[name] = weight
    renewed = {**state, "state_dict": weights}
    for key in _EMBEDDINGS:
        if key in state:
            renewed[key] = getattr(holder, key)
    try:
        return kind.load(renewed)
    except _UNFIT as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"no {kind.__name__} can be built from the file: {type(error).__name__}:"
            f" {reason:.200}",
            file=file,
            hint="kind is the class of the model that was saved",
        ) from error


def named_before(name: str) -> tuple[str | None, str]:
    """
    Our name of the model, `None` if it has none, and the layers of flair's
    `ELMoEmbeddings` of this name; in a stack, a number is before it.
    """
    found = re.fullmatch(r"(?:\d+-)?elmo-(.+?)(?:-(all|top|average))?", name)
    if found is None:
        return None, "all"
    return _MODELS.get(found[1]), found[2] or "all"


class _OldPart:
    """In place of a class of AllenNLP 0.9: holds what the pickle says it had."""

    def __new__(cls, *args: Any) -> "_OldPart":
        return super().__new__(cls)

    def __init__(self, *args: Any) -> None:
        pass

    def part(self, name: str) -> Any:
        """A module that was a part of this one; `None` if there is none."""
        modules = self.__dict__.get("_modules", {})
        return modules.get(name, self.__dict__.get(name))


class _OldElmoEmbeddings(_OldPart):
    """In place of flair's `ELMoEmbeddings`."""

    name: str

    def use_layers_all(self) -> None:
        """Named in pickles, as are the next two."""

    def use_layers_top(self) -> None:
        pass

    def use_layers_average(self) -> None:
        pass

    def projection(self) -> torch.Tensor | None:
        """The weight of the biLM by which it is recognised."""
        part: Any = self
        for name in ("ee", "elmo_bilm", "_token_embedder"):
            if not isinstance(part, _OldPart):
                return None
            part = part.part(name)
        linear = part.part("_projection") if isinstance(part, _OldPart) else None
        return getattr(linear, "weight", None)


class _Unpickler(pickle.Unpickler):
    """Reads old models where the classes of AllenNLP 0.9 are not there."""

    def find_class(self, module: str, name: str) -> Any:
        if name == "ELMoEmbeddings" and module.startswith("flair.embeddings"):
            return _OldElmoEmbeddings
        if module.partition(".")[0] == "allennlp":
            return _OldPart
        return super().find_class(module, name)


class _OldPickles:
    """What `torch.load` asks of a module such as `pickle`."""

    __name__ = "pickle"
    Unpickler = _Unpickler

    @staticmethod
    def load(file: Any, **settings: Any) -> Any:
        return _Unpickler(file, **settings).load()


def _old_parts(module: nn.Module) -> Iterator[tuple[nn.Module, str]]:
    """The modules and the names of their parts that are flair's `ELMoEmbeddings`."""
    for name, part in {**vars(module), **dict(module.named_children())}.items():
        if isinstance(part, _OldElmoEmbeddings):
            yield module, name
        elif isinstance(part, nn.Module):
            yield from _old_parts(part)


def _renewed(old: _OldElmoEmbeddings, model: str | None, file: Path) -> ElmoEmbeddings:
    """`ElmoEmbeddings` in place of old ones, with their name."""
    named, layers = named_before(old.name)
    chosen = model or named
    hint = "pass its files as model: 'options.json+weights.hdf5'"
    if chosen is None:
        problem = f"expected the name of a published biLM, got {old.name}"
        raise InputError(problem, file=file, hint=hint)
    renewed = ElmoEmbeddings(chosen, layers, name=old.name)
    before = old.projection()
    now = _projection(renewed)
    if before is None or now is None or not torch.equal(before, now):
        problem = f"expected the biLM that the tagger was trained with, got {chosen}"
        raise InputError(problem, file=file, hint=hint)
    return renewed


def _projection(embeddings: ElmoEmbeddings) -> torch.Tensor | None:
    """The weight by which a biLM is recognised; `None` for another source."""
    source = embeddings._elmo.layers.source
    if not isinstance(source, BiLM):
        return None
    found: torch.Tensor = source.state_dict()["token_encoder.projection.weight"]
    return found
