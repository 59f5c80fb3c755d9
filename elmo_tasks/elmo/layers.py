"""
The frozen layers of any source, on a device, from a cache if there is one: all that
others know of a source.
"""

from functools import cached_property
from pathlib import Path
from typing import Any, Self, cast

import torch
from torch import Tensor, nn

from elmo_tasks.bilm.bilm import BiLM, LayerOutput, States
from elmo_tasks.bilm.characters import MOST_CHARACTERS, batch_to_ids
from elmo_tasks.bilm.options import Ancestry
from elmo_tasks.elmo.allocation import not_counted
from elmo_tasks.elmo.cache import LayerCache
from elmo_tasks.elmo.models.files import ModelFiles, files_of
from elmo_tasks.elmo.models.record import trained_files
from elmo_tasks.elmo.sources.types import SOURCES, LayerSource, SourceSettings
from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.marks import Folding, Marks
from elmo_tasks.formats.text.text_files import open_text


class Layers(nn.Module):
    """
    The layers of a source, which computes as it did before any training around it: in
    evaluation mode, without gradients, also under autocast. It moves with the module
    that holds it, but is none of its modules: optimizers, initializers and state dicts
    do not reach it.

    # Parameters

    - `source`: a biLM, a transformer, or one of your own; it is frozen.
    - `files`: where it comes from, if it was opened from files.
    - `cache`: layers are read from it if they were computed before.
    """

    def __init__(
        self,
        source: LayerSource,
        files: ModelFiles | None = None,
        *,
        cache: LayerCache | None = None,
    ) -> None:
        super().__init__()
        source.eval().requires_grad_(False)
        self._hidden = (source,)  # `nn.Module` registers no module in a tuple
        self.files = files
        self.cache = cache

    @classmethod
    def open(
        cls,
        settings: SourceSettings,
        *,
        cache_dir: str | Path | None = None,
        run_folder: str | None = None,
        where: str = "",
    ) -> "Layers":
        """
        Opens the files of a source; `cache_dir` is that of its `LayerCache`.

        `run_folder` is that of a trained model, whose files are found as `trained_files`
        does; `where` is what errors write before a key of the config, such as
        `model.elmo.`. Raises `InputError` if a file
        is missing or invalid, or a setting does not fit the kind of model.
        """
        if run_folder is None:
            files = files_of(settings, where=where, offline=settings.offline)
        else:
            folder = Path(run_folder)
            files = trained_files(
                settings, folder, where=where, offline=settings.offline
            )
        source = load_source(settings.of_kind(files.kind), files)
        if settings.archive:
            files = files.with_contents()
        cache = None
        if cache_dir is not None:
            cache = LayerCache(cache_dir, files)
        return cls(source, files, cache=cache)

    @property
    def source(self) -> LayerSource:
        return self._hidden[0]

    @property
    def n_layers(self) -> int:
        """L+1, with the lowest layer, which knows nothing of the context."""
        return self.source.n_layers

    @property
    def output_dim(self) -> int:
        """The width D of a layer: 2P with a biLM."""
        return self.source.output_dim

    @property
    def state(self) -> str:
        """
        What the config asks of the caller: `reset` for calls, whose sentences depend on
        no other sentence, `carry` for calls of `carry`. A source of your own may keep
        states itself, and says `carry` then.
        """
        return self.source.state

    @property
    def precision(self) -> str:
        """The name of the data type of the matrix products."""
        return self.source.precision

    @property
    def device(self) -> torch.device:
        """That of the source's tensors; the CPU if it has none."""
        module = cast(nn.Module, self.source)
        for tensor in (*module.parameters(), *module.buffers()):
            return tensor.device
        return torch.device("cpu")

    @property
    def label(self) -> str:
        """
        What tables and messages call the kind of source: `biLM`, `transformer`; without
        files the name of its class.
        """
        if self.files is None:
            return _class_name(self.source)
        return self.files.label

    @property
    def name(self) -> str:
        """What errors call the source: the path of its weights, if it has one."""
        if self.files is None:
            return _class_name(self.source)
        return str(self.files.weight_file)

    @property
    def ancestry(self) -> Ancestry:
        """The biLMs from which the source was tuned, if it is a biLM."""
        if isinstance(self.source, BiLM):
            return self.source.ancestry
        return ()

    def opened_files(self) -> ModelFiles:
        """
        The files of the source. Raises `InputError` if it was not opened from files.
        """
        if self.files is None:
            raise InputError(
                "expected a source that was opened from files",
                hint="use Elmo.from_files",
            )
        return self.files

    def forward(self, ids: Tensor) -> LayerOutput:
        """
        The layers [L+1, B, T, D] and the mask [B, T] for character ids [B, T, C]; zero
        for padding.
        """
        with torch.no_grad(), torch.autocast(ids.device.type, enabled=False):
            if self.cache is not None:
                return self.cache.layers(self.source, ids)
            return self.source(ids)

    def carry(self, ids: Tensor, states: States) -> tuple[LayerOutput, States]:
        """
        As `forward`, but from the states that the previous batch returned, `{}` for
        zeros; see `BiLM.carry`. Other sources keep their states themselves, and give
        `{}`.
        """
        if not isinstance(self.source, BiLM):
            return self(ids), {}
        with torch.no_grad(), torch.autocast(ids.device.type, enabled=False):
            return self.source.carry(ids, states)

    def of_words(self, sentences: list[list[str]]) -> LayerOutput:
        """
        The layers [L+1, B, T, D] and the mask [B, T] of sentences, lists of words.

        Typographic marks are read as plain ones if a vocabulary beside the files of a
        biLM lacks them; a warning says so once, after a batch with marks.
        """
        if any(not word.isascii() for sentence in sentences for word in sentence):
            with self._folding.reading():
                sentences = [self._folding(sentence) for sentence in sentences]
        ids = batch_to_ids(sentences, longest=MOST_CHARACTERS)  # [B, T, C]
        output: LayerOutput = self(ids.to(self.device))
        return output

    @cached_property
    def _folding(self) -> Folding:
        words: list[str] = []
        vocabulary = None
        if self.files is not None:
            vocabulary = self.files.vocabulary
        if vocabulary is not None:
            words = [word for _, word in open_text(vocabulary)]
        return Folding(Marks(words))

    def _apply(self, *args: Any, **kwargs: Any) -> Self:
        """Moves and converts the source, too."""
        cast(nn.Module, self.source)._apply(*args, **kwargs)
        return super()._apply(*args, **kwargs)


def opened_models(module: nn.Module) -> list[ModelFiles]:
    """
    The files of the frozen models in a module, and of a biLM from which it is tuned,
    its `tuned_from`.
    """
    found = []
    for part in module.modules():
        files = getattr(part, "tuned_from", None)
        if isinstance(part, Layers):
            files = part.files
        if isinstance(files, ModelFiles):
            found.append(files)
    return found


def load_source(settings: SourceSettings, files: ModelFiles) -> LayerSource:
    """
    The source in these files, whose kind the settings fit. Raises `InputError` if a
    file is invalid.
    """
    kind = SOURCES[files.kind]
    paths = [files.paths[key] for key in kind.files]
    options = {key: getattr(settings, key) for key in kind.options}
    with not_counted():
        return kind.load(*paths, **options)


def _class_name(source: LayerSource) -> str:
    return "biLM" if isinstance(source, BiLM) else type(source).__name__
