"""Sentences -> ELMo vectors: `Elmo`, which `elmo-tasks elmo` and the adapters for other libraries use."""

import json
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.elmo.extract import Lines, extract
from elmo_tasks.elmo.extraction import OUTPUTS, Extraction
from elmo_tasks.elmo.scalar_mix import ScalarMix
from elmo_tasks.elmo.sources import BILM, FILE_KEYS, STATE_KEY, LayerSource, Source, open_source
from elmo_tasks.elmo.transformer.encoder import Transformer
from elmo_tasks.errors import InputError
from elmo_tasks.settings import bilm_files

Sentences = Iterable[str | Sequence[str]]
"""Lists of words, or texts whose words are separated by white space."""

Layers = str | int
"""
`all`; `top`; `average`; a layer's number from 0; or the path of an archive or of a training's folder, for the mix that
it has learned for the input (for the output with `:output` after the path).
"""

POOLINGS = ("mean", "max", "first", "last")


class Elmo:
    """
    A frozen biLM that embeds any number of sentences. Copies and pickles open the files again.

    # Parameters

    bilm : `LayerSource`
        A biLM with state `reset`, CoVe or a transformer.
    source : `Source`, optional
        Where it comes from; needed for `cache_dir`, trained mixes and `write`.
    max_length, overlap, batch_size, max_tokens : `int`
        See `Extraction`.
    cache_dir : `str` or `Path`, optional
        Folder of a `LayerCache`, which rounds layers to float16. Needs the package lmdb.

    # Raises

    `InputError` if a value is invalid.
    """

    def __init__(
        self,
        bilm: LayerSource,
        source: Source | None = None,
        *,
        max_length: int = 512,
        overlap: int = 128,
        batch_size: int = 64,
        max_tokens: int = 4096,
        cache_dir: str | Path | None = None,
        cache_limit_gb: float = 32.0,
    ) -> None:
        self.bilm, self.source = bilm, source
        sizes = {"max_length": max_length, "overlap": overlap, "batch_size": batch_size, "max_tokens": max_tokens}
        self._settings: dict[str, Any] = sizes | {"cache_dir": cache_dir, "cache_limit_gb": cache_limit_gb}
        self._sizes, self._cache = sizes, None
        if cache_dir is not None:
            self._cache = _cache(cache_dir, self._opened(), cache_limit_gb)
        self._mixes: dict[str, ScalarMix] = {}
        self._extraction("all")

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
        Open a biLM in the official format.

        # Parameters

        options_file, weight_file : `str` or `Path`, optional
            Paths or URLs; without both, the scale's biLM, which is the embedded one.
        device : `str` or `int`
            Such as `cpu`, `cuda` or 0.
        precision : `str`
            `float32` or `bfloat16`; see `BiLM`.
        settings
            The other parameters of `Elmo`.

        # Raises

        `InputError` naming the file and all that is wrong with it.
        """
        given = (None if file is None else str(file) for file in (options_file, weight_file))
        files = zip(FILE_KEYS[BILM], bilm_files(*given), strict=True)
        bilm, source = open_source(BILM, dict(files), precision=precision)
        return cls(bilm.to(device), source, **settings)

    @property
    def output_dim(self) -> int:
        """Width of a vector: 2P."""
        return self.bilm.output_dim

    def embed(
        self, sentences: Sentences, *, layers: Layers = "all", tensors: bool = False, progress: bool = False
    ) -> list[Any]:
        """
        The vectors of sentences, computed in batches of similar length.

        # Parameters

        sentences : `Iterable`
            N lists of words, or texts with white space between words.
        layers : `str` or `int`
            See `Layers`.
        tensors : `bool`
            Return tensors on the CPU instead of arrays.
        progress : `bool`
            Show a progress bar, if the package tqdm is installed.

        # Returns

        `list[np.ndarray]`
            N arrays, float32, [L+1, T, 2P] for all layers, otherwise [T, 2P]; T is 0 for an empty sentence.

        # Raises

        `InputError` if a value is invalid, not finite, or memory runs out.
        """
        if isinstance(sentences, str):
            raise InputError("expected a list of sentences, got one string", hint="put it into a list")
        texts = [sentence.split() if isinstance(sentence, str) else list(sentence) for sentence in sentences]
        extraction = self._extraction(layers)
        arrays = [np.empty(extraction.shape(len(text)), np.float32) for text in texts]
        with progress_bar(sum(map(len, texts)), shown=progress) as bar:
            for batch in extraction.batches(extraction.pieces(list(map(len, texts))), texts):
                for (sentence, (_, _, first, last)), values in batch:
                    arrays[sentence][..., first:last, :] = values
                    bar.update(last - first)
        return [torch.from_numpy(array) for array in arrays] if tensors else arrays

    def embed_sentences(
        self,
        sentences: Sentences,
        *,
        pooling: str = "mean",
        layers: Layers = "average",
        tensors: bool = False,
        progress: bool = False,
    ) -> Any:
        """
        A vector for each sentence, float32 [N, 2P], or [N, L+1, 2P] for all layers; zero for an empty sentence.

        `pooling` over the tokens is `mean`, `max`, `first` or `last`. For the rest see `embed`.
        """
        if pooling not in POOLINGS:
            raise InputError(f"pooling: expected one of {', '.join(POOLINGS)}, got {pooling!r}")
        vectors = self.embed(sentences, layers=layers, progress=progress)
        shape = np.delete(self._extraction(layers).shape(0), -2)
        pooled = np.zeros((len(vectors), *shape), np.float32)
        for row, array in zip(pooled, vectors, strict=True):
            if array.shape[-2]:
                places = {"first": 0, "last": -1}
                row[:] = array[..., places[pooling], :] if pooling in places else getattr(array, pooling)(-2)
        return torch.from_numpy(pooled) if tensors else pooled

    def embed_batch(
        self, batch: Mapping[str, Sequence[Any]], *, column: str = "tokens", layers: Layers = "average"
    ) -> dict[str, list[np.ndarray]]:
        """
        For `map(elmo.embed_batch, batched=True)` of Hugging Face datasets: the column `elmo` with the vectors of the
        sentences in `column`. The pickle holds the files' sha256, so that the fingerprints identify the biLM.
        """
        if column not in batch:
            raise InputError(f"expected a column {column!r}, got {', '.join(batch)}", hint='fn_kwargs={"column": ...}')
        return {"elmo": self.embed(batch[column], layers=layers)}

    def write(
        self,
        lines: Lines,
        out: str | Path,
        *,
        layers: Layers = "all",
        float16: bool = False,
        parse: Callable[[str], list[str]] = str.split,
        settings: Mapping[str, str | int] | None = None,
        **options: Any,
    ) -> bool:
        """
        Write the vectors of lines to an HDF5 file; `settings` are further attributes of it, for the `options` see
        `extract`.
        """
        source = self._opened()
        provenance = {
            "input": "lines",
            "tokenizer": "white space",
            "options_sha256": source.auxiliary_file.sha256,
            "weights_sha256": source.weight_file.sha256,
            "options_file": source.auxiliary_file.path,
            "weight_file": source.weight_file.path,
        }
        if isinstance(self.bilm, BiLM):
            provenance["options"] = json.dumps(self.bilm.options.to_dict())
        if isinstance(self.bilm, Transformer):
            provenance |= {"options": self.bilm.model.config.to_json_string(), "word_pieces": self.bilm.pieces}
        described = {"float16": float16, "parse": parse, "settings": {**provenance, **(settings or {})}}
        return extract(self._extraction(layers, **described), lines, out, **options)

    def __reduce__(self) -> Any:
        if self.source is None or not isinstance(self.bilm, BiLM):
            return type(self), (self.bilm, self.source), {"_settings": self._settings, "_sizes": self._sizes}
        files = [(file.path, file.sha256) for file in (self.source.auxiliary_file, self.source.weight_file)]
        place = {"device": str(next(self.bilm.parameters()).device), "precision": self.bilm.precision}
        return _reopen, (type(self), files, {**place, **self._settings})

    def _opened(self) -> Source:
        if self.source is None:
            raise InputError("expected a biLM with its source", hint="use Elmo.from_files")
        return self.source

    def _extraction(self, layers: Layers, **options: Any) -> Extraction:
        if layers in OUTPUTS:
            options["output"] = layers
        elif isinstance(layers, int):
            options["mix"] = ScalarMix(self.bilm.n_layers, mix=f"layer:{layers}", gamma=False)
        else:
            if layers not in self._mixes:
                self._mixes[layers] = _open_mix(layers, self.bilm, self._opened())
            options["mix"] = self._mixes[layers].to(next(self.bilm.parameters()).device)
        return Extraction(bilm=self.bilm, cache=self._cache, **{"settings": {}, **self._sizes, **options})


@contextmanager
def progress_bar(total: int | None = None, *, shown: bool = True) -> Iterator[Any]:
    """A bar of tokens with `update(tokens)` and `reset(total)`, which is shown if the package tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield SimpleNamespace(update=lambda tokens: None, reset=lambda total: None)
        return
    with tqdm(total=total, unit=" tokens", unit_scale=True, disable=not shown) as bar:
        yield bar


def _cache(cache_dir: str | Path, source: Source, limit_gb: float) -> Any:
    try:
        from elmo_tasks.elmo.cache import LayerCache
    except ImportError:
        raise InputError("a layer cache needs the package lmdb", hint="pip install 'elmo-tasks[tasks]'") from None
    return LayerCache(cache_dir, source, limit_gb=limit_gb)


def _reopen(kind: type[Elmo], files: list[tuple[str, str]], settings: dict[str, Any]) -> Elmo:
    """Unpickle."""
    elmo = kind.from_files(*(path for path, _ in files), **settings)
    opened = elmo._opened()
    for file, (path, sha256) in zip((opened.auxiliary_file, opened.weight_file), files, strict=True):
        if file.sha256 != sha256:
            raise InputError(f"the file has changed since the pickle was written, then sha256 {sha256}", file=path)
    return elmo


def _open_mix(archive: str, bilm: LayerSource, source: Source) -> ScalarMix:
    """The learned mix of an archive. Raises `InputError` if it has none, or was trained on another biLM."""
    path, _, place = archive.partition(":")
    if not Path(path).exists():
        expected = f"{', '.join(OUTPUTS)}, a number or the path of an archive"
        raise InputError(f"layers: expected {expected}, got {archive!r}")
    with _unpacked(Path(path)) as (config, state):
        prefix = f".{place or 'input'}_mix."
        found = {key.partition(prefix)[2]: value for key, value in state.items() if prefix in key}
        given = config.get("model", {}).get("elmo")
        if not isinstance(given, dict) or not found:
            raise InputError(f"expected a model with ELMo at the {place or 'input'}, got none", file=path)
        layer_norm = given.get("layer_norm", False)
        if layer_norm == "batch":
            raise InputError("expected vectors that do not depend on the batch, got layer_norm: batch", file=path)
        source.require_same(*(Source.from_state(state[key]) for key in state if key.endswith(f"elmo.{STATE_KEY}")))
        mix = ScalarMix(bilm.n_layers, mix=given.get("mix", "weighted"), gamma="gamma" in found, layer_norm=layer_norm)
        mix.load_state_dict(found)
    return mix.requires_grad_(False)


@contextmanager
def _unpacked(path: Path) -> Iterator[tuple[dict[str, Any], dict[str, torch.Tensor]]]:
    """The config and the state of an archive, or of the folder of a training."""
    with tempfile.TemporaryDirectory() as temporary:
        try:
            if path.is_file():
                with tarfile.open(path) as tar:
                    for name in ("config.json", "weights.th"):
                        tar.extract(name, temporary, filter="data")
            folder = Path(temporary) if path.is_file() else path
            weights = next(file for name in ("weights.th", "best.th") if (file := folder / name).is_file())
            state = torch.load(weights, map_location="cpu", weights_only=True)
            yield json.loads((folder / "config.json").read_text("utf-8")), dict(state)
        except InputError:
            raise
        except (
            OSError,
            EOFError,
            KeyError,
            StopIteration,
            RuntimeError,
            ValueError,
            tarfile.TarError,
            zlib.error,
        ) as error:
            raise InputError(f"cannot read the model: {type(error).__name__}: {error}", file=path) from None
