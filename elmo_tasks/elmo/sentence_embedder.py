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
from elmo_tasks.formats.unpacking import unpack

logger = logging.getLogger(__name__)

Sentences = Iterable[str | Sequence[str]]
"""Lists of words, or texts whose words are separated by white space."""

Layers = str | Path | int
"""
`all`; `top`; `average`; a layer's number from 0; or the path of an archive or of a training's folder, for the mix that
it has learned for the input (for the output with `:output` after the path).
"""

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
    - `sizes`: `max_length`, `overlap`, `batch_size` and `max_tokens` of `BatchSizes`.
    """

    def __init__(
        self,
        bilm: LayerSource,
        source: SourceFiles | None = None,
        *,
        cache_dir: str | Path | None = None,
        cache_limit_gb: float | None = None,
        **sizes: int,
    ) -> None:
        self.bilm, self.source, self.sizes = bilm, source, BatchSizes(**sizes)
        self._cache_settings = CacheSettings(
            cache_dir=cache_dir, cache_limit_gb=cache_limit_gb
        )
        self._cache = None
        if cache_dir is not None:
            self._cache = LayerCache(cache_dir, self._opened(), limit_gb=cache_limit_gb)
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
    ) -> list[Any]:
        """
        The vectors of N lists of words, or texts with white space between words: N arrays, with `tensors` N tensors,
        float32, [L+1, T, 2P] for all layers, otherwise [T, 2P]. For `layers` see `Layers`. `progress` shows a bar,
        which needs the package tqdm. Raises `InputError` if a value is invalid, not finite, or memory runs out.
        """
        texts, model = _texts(sentences), self.vector_model(layers)
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
        **options: bool,
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

    def mean_vectors(
        self,
        sentences: Iterable[list[str]],
        words: Sequence[str],
        *,
        layers: Layers = "average",
        **options: Any,
    ) -> np.ndarray:
        """The mean of the vectors of each word's occurrences, float32 [V, D]; see `static.mean_vectors`."""
        return mean_vectors(
            self.vector_model(layers), self.sizes, sentences, words, **options
        )

    def embed_batch(
        self,
        batch: Mapping[str, Sequence[Any]],
        *,
        column: str = "tokens",
        layers: Layers = "average",
    ) -> dict[str, list[np.ndarray]]:
        """
        For `map(elmo.embed_batch, batched=True)` of Hugging Face datasets: the column `elmo` with the vectors of the
        sentences in `column`. The pickle holds the files' sha256, so that the fingerprints identify the biLM.
        """
        if column not in batch:
            raise InputError(
                f"column: expected one of {', '.join(batch)}, got {column!r}"
            )
        return {"elmo": self.embed(batch[column], layers=layers)}

    def write(
        self,
        lines: Lines,
        out: str | Path,
        *,
        layers: Layers = "all",
        stored: str = "float32",
        settings: Mapping[str, Any],
        **options: Any,
    ) -> None:
        """Write the vectors of lines to an HDF5 file; see `write_vectors` and, for `stored`, `VectorModel`."""
        model, settings = (
            self.vector_model(layers, stored=stored),
            {**self.provenance(), **settings},
        )
        write_vectors(model, lines, out, sizes=self.sizes, settings=settings, **options)

    def provenance(self) -> dict[str, Any]:
        """The files of the source and its options, as files of vectors record them."""
        source = self._opened()
        found: dict[str, Any] = {
            "options_sha256": source.auxiliary_file.sha256,
            "weights_sha256": source.weight_file.sha256,
            "options_file": source.auxiliary_file.path,
            "weight_file": source.weight_file.path,
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
        settings: dict[str, Any] = asdict(self._cache_settings) | asdict(self.sizes)
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


def _texts(sentences: Sentences) -> list[list[str]]:
    if isinstance(sentences, str) or not isinstance(sentences, Iterable):
        raise InputError(
            f"expected a list of sentences, got {shown(sentences)}",
            hint="put it into a list",
        )
    given = list(sentences)
    texts = [
        one.split()
        if isinstance(one, str)
        else list(one)
        if isinstance(one, Iterable)
        else None
        for one in given
    ]
    for number, (words, one) in enumerate(zip(texts, given, strict=True), start=1):
        if words is None or not all(isinstance(word, str) for word in words):
            raise InputError(
                f"sentence {number}: expected a string or a list of words, got {shown(one)}"
            )
    return [words for words in texts if words is not None]


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
    given = config.get("model", {}).get("elmo")
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
            state = torch.load(folder / weights, map_location="cpu", weights_only=True)
            return json.loads((folder / "config.json").read_text("utf-8")), dict(state)
        except Exception as error:  # damaged files raise errors of any kind
            raise InputError(
                f"cannot read the model: {type(error).__name__}: {error}", file=path
            ) from None
