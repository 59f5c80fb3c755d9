"""Sentences -> ELMo vectors: `Elmo`, which `elmo-tasks elmo` and the adapters for other libraries use."""

import json
import logging
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.elmo.batching import BatchSizes, Sentence, embed_into
from elmo_tasks.elmo.cache import CacheSettings, LayerCache
from elmo_tasks.elmo.hdf5_writer import Lines, write_vectors
from elmo_tasks.elmo.scalar_mix import MixSettings, ScalarMix
from elmo_tasks.elmo.source_types import BILM, LayerSource, SourceSettings
from elmo_tasks.elmo.sources import (
    STATE_KEY,
    SourceFiles,
    copy_files,
    open_source,
    settings_of,
)
from elmo_tasks.elmo.static import mean_vectors
from elmo_tasks.elmo.transformer import Transformer
from elmo_tasks.elmo.vector_model import OUTPUTS, VectorModel
from elmo_tasks.errors import InputError, shown
from elmo_tasks.files import atomic_write_folder
from elmo_tasks.formats.raw_text import (
    WHITESPACE,
    Split,
    Tokenizer,
    end_of_text,
    is_list_of_words,
    open_tokenizer,
)
from elmo_tasks.formats.tensor_files import check_tensor_file
from elmo_tasks.formats.text_files import read_json
from elmo_tasks.formats.unpacking import unpack
from elmo_tasks.settings import Count

logger = logging.getLogger(__name__)

Sentences = Iterable[str | Sequence[str]]
"""Lists of words, or texts, which a tokenizer splits into words."""

Layers = str | Path | Count
"""
`all`; `top`; `average`; a layer's number from 0; or the path of an archive or of a training's folder, for the mix that
it has learned for the input (for the output with `:output` after the path).
"""

_SAMPLED_LINES = 1000

_CHOICES = f"{', '.join(OUTPUTS)}, the path of an archive"

POOLINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "mean": lambda array: array.mean(-2),
    "max": lambda array: array.max(-2),
    "first": lambda array: array[..., 0, :],
    "last": lambda array: array[..., -1, :],
}


class Elmo:
    """
    A frozen biLM that embeds any number of sentences. A pickle opens its files again.

    # Parameters

    - `bilm`: a biLM with state `reset`, or a transformer.
    - `source`: where it comes from; needed for `cache_dir`, trained mixes and `write`.
    - `cache_dir`: folder of a `LayerCache`, which rounds layers to float16.
    - `cache_limit_gb`: its maximal size in 10^9 bytes; `None`: what is there and nine tenths of the free disk.
    - `tokenizer`: how texts are split into words, see `Tokenizer`; methods take another one. By default texts have
      white space between words and punctuation; raw text is reported once.
    - `sizes`: `max_length`, `overlap`, `batch_size` and `max_tokens` of `BatchSizes`.
    """

    def __init__(
        self,
        bilm: LayerSource,
        source: SourceFiles | None = None,
        *,
        cache_dir: str | Path | None = None,
        cache_limit_gb: float | None = None,
        tokenizer: Tokenizer = WHITESPACE,
        **sizes: int,
    ) -> None:
        self.bilm, self.source, self.sizes = bilm, source, BatchSizes(**sizes)
        self._cache_settings = CacheSettings(
            cache_dir=cache_dir, cache_limit_gb=cache_limit_gb
        )
        self._cache = None
        if cache_dir is not None:
            self._cache = LayerCache(cache_dir, self._opened(), limit_gb=cache_limit_gb)
        self.tokenizer = tokenizer
        self._tokenizers: dict[str, tuple[Split, str]] = {}
        self._chosen = self._opened_tokenizer(tokenizer)
        self._warned_of_words = False
        self._mixes: dict[str, ScalarMix] = {}
        self.vector_model("all")

    @classmethod
    def from_pretrained(
        cls,
        model: str | Path | None = None,
        options_file: str | Path | None = None,
        *,
        precision: str = "float32",
        **settings: Any,
    ) -> "Elmo":
        """
        Open the embedded biLM, or a whole model: a name that `elmo-tasks models` lists, a folder, a ZIP of the NLPL
        repository, their URL (`https://...zip#sha256=HEX` checks the digest), `hf://owner/name`; or the weights of a
        biLM with its options. The other arguments and the errors are those of `from_files`.
        """
        chosen = {
            **({} if model is None else settings_of(model)),
            "options_file": options_file,
            "precision": precision,
        }
        return cls._open(SourceSettings.of(chosen), **settings)

    @classmethod
    def from_files(
        cls,
        options_file: str | Path | None = None,
        weight_file: str | Path | None = None,
        *,
        device: str | int = "cpu",
        precision: str = "float32",
        **settings: Any,
    ) -> "Elmo":
        """
        Open a biLM from its official files, paths or URLs; without both, the embedded one; a whole model, as for
        `from_pretrained`, is the `weight_file` alone. `precision` is that of `BiLM`, and `settings` are the other
        parameters of `Elmo`. Raises `InputError` naming the file and all that is wrong with it.
        """
        chosen = {
            "options_file": options_file,
            "weight_file": weight_file,
            "precision": precision,
        }
        return cls._open(SourceSettings.of(chosen), device=device, **settings)

    @classmethod
    def _open(
        cls, chosen: SourceSettings, *, device: str | int = "cpu", **settings: Any
    ) -> "Elmo":
        try:
            torch.empty(0, device=device)
        except (
            RuntimeError,
            AssertionError,
        ):  # of a name, and of a device that is not there
            problem = f"device: expected one of this machine, such as cpu or cuda:0, got {device!r}"
            raise InputError(problem) from None
        bilm, source = open_source(chosen)
        return cls(bilm.to(device), source, **settings)

    def save(self, folder: str | Path) -> None:
        """
        Write the model's files to a folder that `from_pretrained` reads; of an opened model, the same bytes. Raises
        `InputError` if it cannot be written.
        """
        with atomic_write_folder(Path(folder)) as aside:
            if self.source is None and isinstance(self.bilm, BiLM):
                self.bilm.save_files(aside / "options.json", aside / "weights.hdf5")
            else:
                copy_files(self._opened(), aside)

    def embed(
        self,
        sentences: Sentences,
        *,
        layers: Layers = "all",
        tensors: bool = False,
        progress: bool = False,
        tokenizer: Tokenizer | None = None,
    ) -> list[Any]:
        """
        The vectors of N sentences, lists of words or texts: N arrays, with `tensors` N tensors, float32, [L+1, T, 2P]
        for all layers, otherwise [T, 2P]. For `layers` see `Layers`. `tokenizer` splits texts, by default that of the
        constructor. `progress` shows a bar, which needs the package tqdm.

        What seems to be a list of the words of one sentence is reported once. Raises `InputError` if a value is
        invalid, not finite, or memory runs out.
        """
        model, given = self.vector_model(layers), _checked(sentences)
        self._warn_of_words(given)
        texts = self._words_of_each(given, tokenizer)
        arrays = [np.empty(model.shape(len(text)), np.float32) for text in texts]
        with progress_bar(sum(map(len, texts)), visible=progress) as bar:
            named = [
                Sentence("", text, f"line {number}")
                for number, text in enumerate(texts, start=1)
            ]
            embed_into(arrays, model, self.sizes, named, bar.update)
        return [torch.from_numpy(array) for array in arrays] if tensors else arrays

    def embed_sentences(
        self,
        sentences: Sentences,
        *,
        pooling: str = "mean",
        layers: Layers = "average",
        **options: Any,
    ) -> Any:
        """
        A vector for each sentence, float32 [N, 2P], or [N, L+1, 2P] for all layers; zero for an empty sentence.
        `pooling` over the tokens is `mean`, `max`, `first` or `last`; for the rest see `embed`.
        """
        if pooling not in POOLINGS:
            raise InputError(
                f"pooling: expected one of {', '.join(POOLINGS)}, got {shown(pooling)}"
            )
        vectors = self.embed(sentences, layers=layers, **options)
        pooled = np.zeros(
            (len(vectors), *np.delete(self.vector_model(layers).shape(0), -2)),
            np.float32,
        )
        for row, array in zip(pooled, map(np.asarray, vectors), strict=True):
            row[:] = POOLINGS[pooling](array) if array.shape[-2] else 0
        return torch.from_numpy(pooled) if options.get("tensors") else pooled

    def words(
        self, texts: Iterable[str], *, tokenizer: Tokenizer | None = None
    ) -> list[list[str]]:
        """The words of each text, as `embed` splits it."""
        return self._words_of_each(list(texts), tokenizer)

    def mean_vectors(
        self,
        sentences: Sentences,
        words: Sequence[str],
        *,
        layers: Layers = "average",
        tokenizer: Tokenizer | None = None,
        **options: Any,
    ) -> np.ndarray:
        """The mean of the vectors of each word's occurrences, float32 [V, D]; see `static.mean_vectors`."""
        split, _ = self._opened_tokenizer(tokenizer)
        lists = (split(one) if isinstance(one, str) else list(one) for one in sentences)
        return mean_vectors(
            self.vector_model(layers), self.sizes, lists, words, **options
        )

    def embed_batch(
        self,
        batch: Mapping[str, Sequence[Any]],
        *,
        column: str = "tokens",
        layers: Layers = "average",
        tokenizer: Tokenizer | None = None,
    ) -> dict[str, list[np.ndarray]]:
        """
        For `map(elmo.embed_batch, batched=True)` of Hugging Face datasets: the column `elmo` with the vectors of the
        sentences in `column`. The pickle holds the files' sha256, so that the fingerprints identify the biLM.
        """
        if column not in batch:
            raise InputError(
                f"column: expected one of {', '.join(batch)}, got {column!r}"
            )
        return {"elmo": self.embed(batch[column], layers=layers, tokenizer=tokenizer)}

    def write(
        self,
        lines: Lines,
        out: str | Path,
        *,
        layers: Layers = "all",
        stored: str = "float32",
        tokenizer: Tokenizer | None = None,
        settings: Mapping[str, Any],
        **options: Any,
    ) -> None:
        """
        Write the vectors of lines to an HDF5 file; see `write_vectors` and, for `stored`, `VectorModel`. The name of
        the tokenizer is recorded as `tokenizer`, unless `settings` has another.
        """
        split, name = self._opened_tokenizer(tokenizer)
        write_vectors(
            self.vector_model(layers, stored=stored),
            _until_the_end(lines, split),
            out,
            sizes=self.sizes,
            parse=split,
            settings={**self.provenance(), "tokenizer": name, **settings},
            **options,
        )

    def provenance(self) -> dict[str, Any]:
        """The files of the source and its options, as files of vectors record them."""
        source = self._opened()
        found: dict[str, Any] = {
            "options_sha256": source.auxiliary_file.sha256,
            "weights_sha256": source.weight_file.sha256,
            "options_file": source.auxiliary_file.public,
            "weight_file": source.weight_file.public,
        }
        if isinstance(self.bilm, BiLM):
            found["options"] = json.dumps(self.bilm.options.to_dict())
        if isinstance(self.bilm, Transformer):
            found |= {
                "options": self.bilm.model.config.to_json_string(),
                "word_pieces": self.bilm.pieces,
            }
        return found

    def __repr__(self) -> str:
        files = (
            ""
            if self.source is None
            else f"{self.source.label} {self.source.weight_file.path}, "
        )
        device, size = (
            next(self.bilm.parameters()).device,
            f"{self.bilm.n_layers} layers of {self.bilm.output_dim}",
        )
        return f"Elmo({files}{size}, {self.bilm.precision}, {device})"

    def __reduce__(self) -> Any:
        settings: dict[str, Any] = {
            **asdict(self._cache_settings),
            "tokenizer": self.tokenizer,
            **asdict(self.sizes),
        }
        if self.source is None or self.source.name != BILM:
            return partial(type(self), **settings), (self.bilm, self.source)
        files = [
            (file.path, file.sha256)
            for file in (self.source.auxiliary_file, self.source.weight_file)
        ]
        place = {
            "device": str(next(self.bilm.parameters()).device),
            "precision": self.bilm.precision,
        }
        return _reopen, (type(self), files, {**place, **settings})

    def _opened(self) -> SourceFiles:
        if self.source is None:
            raise InputError(
                "expected a biLM with its source", hint="use Elmo.from_files"
            )
        return self.source

    def _opened_tokenizer(self, tokenizer: Tokenizer | None) -> tuple[Split, str]:
        """The function and the name of a tokenizer, by default that of the constructor."""
        if tokenizer is None:
            return self._chosen
        advice = "of raw text, tokenizer='basic' splits it off (an argument of Elmo and its methods)"
        if not isinstance(tokenizer, str):
            return open_tokenizer(tokenizer, advice=advice)
        if tokenizer not in self._tokenizers:
            self._tokenizers[tokenizer] = open_tokenizer(tokenizer, advice=advice)
        return self._tokenizers[tokenizer]

    def _warn_of_words(self, sentences: list[Any]) -> None:
        """Warn once of `embed(["It", "ended", "."])`, the call of AllenNLP's `embed_sentence`."""
        texts = [one for one in sentences if isinstance(one, str)]
        is_list = len(texts) == len(sentences) and is_list_of_words(texts)
        if is_list and not self._warned_of_words:
            self._warned_of_words = True
            logger.warning(
                "expected sentences, got texts of one word each, such as %r, which are embedded as %d sentences; for "
                "the words of one sentence write elmo.embed([words]), for sentences of one word [[word], [word], ...]",
                texts[0],
                len(texts),
            )

    def _words_of_each(
        self, sentences: list[Any], tokenizer: Tokenizer | None
    ) -> list[list[str]]:
        """The words of lists of words, or of texts."""
        split, _ = self._opened_tokenizer(tokenizer)
        words = [split(one) if isinstance(one, str) else list(one) for one in sentences]
        end_of_text(split)
        return words

    def vector_model(self, layers: Layers, **options: Any) -> VectorModel:
        """The source with a choice of its layers; `options` are others of `VectorModel`."""
        if layers in OUTPUTS:
            options["output"] = layers
        elif isinstance(layers, int | np.integer) and not isinstance(layers, bool):
            if not 0 <= layers < self.bilm.n_layers:
                raise InputError(
                    f"layers: expected 0 to {self.bilm.n_layers - 1}, or {_CHOICES}, got {layers}"
                )
            options["mix"] = ScalarMix(
                self.bilm.n_layers, MixSettings(mix=f"layer:{layers}", gamma=False)
            )
        else:
            layers = str(layers)
            if layers not in self._mixes:
                self._mixes[layers] = _open_mix(layers, self.bilm, self._opened())
            options["mix"] = self._mixes[layers].to(next(self.bilm.parameters()).device)
        name = "biLM" if self.source is None else self.source.weight_file.path
        return VectorModel(bilm=self.bilm, cache=self._cache, name=name, **options)


_NO_LISTS = (str, bytes, Mapping, set, frozenset)
"""What has parts, and is no list of sentences or words."""


def _checked(sentences: Sentences) -> list[Any]:
    """Lists of words, or texts. Raises `InputError` for something else."""
    is_list = isinstance(sentences, Iterable) and not isinstance(sentences, _NO_LISTS)
    if not is_list:
        raise InputError(
            f"expected a list of sentences, got {shown(sentences)}",
            hint="put it into a list",
        )
    checked = []
    for number, one in enumerate(sentences, start=1):
        words = one if isinstance(one, str) else _word_list(one)
        if words is None:
            raise InputError(
                f"sentence {number}: expected a string or a list of words, got {shown(one)}"
            )
        checked.append(words)
    return checked


def _word_list(value: Any) -> list[str] | None:
    """The words of a list of words; `None` for something else."""
    if not isinstance(value, Iterable) or isinstance(value, _NO_LISTS):
        return None
    words = list(value)
    return words if all(isinstance(word, str) for word in words) else None


def _until_the_end(lines: Lines, split: Split) -> Iterator[tuple[int, str]]:
    """The lines of a whole text, for which warnings are due at its end."""
    first: list[str] = []
    for number, line in lines:
        if len(first) < _SAMPLED_LINES and line.strip():
            first.append(line.strip())
        yield number, line
    end_of_text(split)
    if is_list_of_words(first):
        logger.warning(
            "each line has one word, such as %r: a sentence is a line with all its words",
            first[0],
        )


@contextmanager
def progress_bar(total: int | None = None, *, visible: bool = True) -> Iterator[Any]:
    """A bar of tokens with `update(tokens)` and `reset(total)`. Without the package tqdm, a warning says so."""
    try:
        from tqdm import tqdm
    except ImportError:
        if visible:
            logger.warning(
                "no progress is shown: this needs the package tqdm (pip install tqdm)"
            )
        yield SimpleNamespace(update=lambda tokens: None, reset=lambda total: None)
        return
    with tqdm(total=total, unit=" tokens", unit_scale=True, disable=not visible) as bar:
        yield bar


def _reopen(
    kind: type[Elmo], files: list[tuple[str, str]], settings: dict[str, Any]
) -> Elmo:
    elmo = kind.from_files(*(path for path, _ in files), **settings)
    opened = elmo._opened()
    for file, (path, sha256) in zip(
        (opened.auxiliary_file, opened.weight_file), files, strict=True
    ):
        if file.sha256 != sha256:
            raise InputError(
                f"the file has changed since the pickle was written, then sha256 {sha256}",
                file=path,
            )
    return elmo


def _open_mix(archive: str, bilm: LayerSource, source: SourceFiles) -> ScalarMix:
    """The learned mix of an archive. Raises `InputError` if it has none, or was trained on another biLM."""
    has_place = archive.endswith((":input", ":output"))
    path, _, place = archive.rpartition(":") if has_place else (archive, "", "")
    if not Path(path).exists():
        raise InputError(f"layers: expected {_CHOICES} or a number, got {archive!r}")
    config, state = _trained(Path(path))
    prefix = f".{place or 'input'}_mix."
    found = {
        key.partition(prefix)[2]: value for key, value in state.items() if prefix in key
    }
    model = config.get("model")
    given = model.get("elmo") if isinstance(model, dict) else None
    problem = f"expected a model with ELMo at the {place or 'input'}, got none"
    if not isinstance(given, dict) or given.get("at", "input") not in (
        place or "input",
        "both",
    ):
        raise InputError(problem, file=path)
    if given.get("layer_norm") == "batch":
        raise InputError(
            "expected vectors that do not depend on the batch, got layer_norm: batch",
            file=path,
        )
    source.require_same(
        *(
            SourceFiles.from_state(state[key])
            for key in state
            if key.endswith(f"elmo.{STATE_KEY}")
        )
    )
    mix = ScalarMix(bilm.n_layers, MixSettings.of(given))
    if found.keys() != mix.state_dict().keys():
        raise InputError(problem, file=path)
    mix.load_state_dict(found)
    return mix.requires_grad_(False)


def _trained(path: Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """The config and the state of an archive, or of the folder of a training."""
    with tempfile.TemporaryDirectory() as temporary:
        folder, weights = (
            (Path(temporary), "weights.th") if path.is_file() else (path, "best.th")
        )
        try:
            if path.is_file():
                unpack(path, temporary, ["config.json", weights], file=path)
            config = read_json(folder / "config.json", "the model's config")
            check_tensor_file(folder / weights)
            state = torch.load(folder / weights, map_location="cpu", weights_only=True)
            return dict(config), dict(state)
        except Exception as error:  # damaged files raise errors of any kind
            raise InputError(
                f"cannot read the model: {type(error).__name__}: {error}", file=path
            ) from None
