"""Sentences -> the vectors that `elmo-tasks elmo` writes."""

import json
import pickle
import signal
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

import elmo_tasks
from elmo_tasks.batches import batches_by_length
from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.characters import MOST_CHARACTERS, batch_to_ids
from elmo_tasks.elmo.scalar_mix import ScalarMix
from elmo_tasks.errors import InputError
from elmo_tasks.out_of_memory import explain_oom
from elmo_tasks.processes import worker_pool
from elmo_tasks.ranges import require_sizes, require_workers

if TYPE_CHECKING:
    from elmo_tasks.elmo.cache import LayerCache
    from elmo_tasks.elmo.source_types import LayerSource

OUTPUTS = ("all", "top", "average")
"""All L+1 layers, the top layer, or the mean of all layers."""

_LARGEST = 2**31 - 1


class Window(NamedTuple):
    """
    # Parameters

    - `start`, `end`: the tokens that are encoded together.
    - `first`, `last`: of these, the tokens whose vectors are taken from this window, `last` excluded.
    """

    start: int
    end: int
    first: int
    last: int


class Piece(NamedTuple):
    """A window of the sentence with this index."""

    sentence: int
    window: Window


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """
    A source of layers and the settings of a file of vectors.

    # Parameters

    - `bilm`: with state `reset`.
    - `settings`: further attributes of the file: `input`, `options_sha256`, `weights_sha256`, `tokenizer`, ...
    - `parse`: splits a line into tokens.
    - `output`: `all`, `top` or `average`.
    - `float16`: whether to write float16 instead of float32.
    - `max_length`, `overlap`: longer sentences are split into windows of `max_length` tokens that share `overlap`
      tokens.
    - `batch_size`, `max_tokens`: the largest number of windows and of tokens with padding in a batch.
    - `mix`: takes the place of `output`.
    - `cache`: of this biLM.

    Raises `InputError` if a value is invalid.
    """

    bilm: "LayerSource"
    settings: Mapping[str, str | int]
    parse: Callable[[str], list[str]] = field(default=str.split)
    output: str = "all"
    float16: bool = False
    max_length: int = 512
    overlap: int = 128
    batch_size: int = 64
    max_tokens: int = 4096
    mix: ScalarMix | None = None
    cache: "LayerCache | None" = None

    def __post_init__(self) -> None:
        check_window(self.max_length, self.overlap)
        require_sizes(batch_size=self.batch_size, max_tokens=self.max_tokens)
        if self.output not in OUTPUTS:
            raise InputError(f"output: expected one of {', '.join(OUTPUTS)}, got {self.output!r}")
        if self.bilm.state != "reset":
            raise InputError(f"expected a biLM with state reset, got {self.bilm.state}")

    @property
    def dtype(self) -> np.dtype:
        """The data type of the vectors in the file."""
        return np.dtype("<f2" if self.float16 else "<f4")

    def shape(self, length: int) -> tuple[int, ...]:
        """The shape of the vectors of a sentence of `length` tokens."""
        layers = (self.bilm.n_layers,) if self._has_layers else ()
        return (*layers, length, self.bilm.output_dim)

    @property
    def attributes(self) -> dict[str, str | int]:
        """The attributes of the file that depend on the settings alone."""
        settings = {
            key: value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
            for key, value in self.settings.items()  # names of files may be no UTF-8
        }
        return {
            **settings,
            "state": self.bilm.state,
            "precision": self.bilm.precision,
            "output": self.output if self.mix is None else "mix",
            "layers": self._layer_names(),
            "dtype": "float16" if self.float16 else "float32",
            "max_length": self.max_length,
            "overlap": self.overlap,
            "device": next(self.bilm.parameters()).device.type,
            "elmo_tasks": elmo_tasks.__version__,
            "torch": str(torch.__version__),
        }

    def pieces(self, lengths: Sequence[int]) -> list[Piece]:
        """The windows of sentences, the shortest first."""
        pieces = [
            Piece(sentence, window)
            for sentence, length in enumerate(lengths)
            for window in windows(length, limit=self.max_length, overlap=self.overlap)
        ]
        return sorted(pieces, key=_length)

    def batches(
        self, pieces: Sequence[Piece], sentences: Sequence[list[str]], *, first: int = 0, pool: Executor | None = None
    ) -> Iterator[list[tuple[Piece, np.ndarray]]]:
        """
        The pieces of `sentences` in order, a batch at a time, with the vectors of the tokens `first` to `last` of each
        window, [L+1, T, D] or [T, D]. `pool` is from `workers`, and `first` the line of the first sentence, from 0.
        """
        waiting: deque[tuple[list[Piece], Future[np.ndarray]]] = deque()
        lengths = list(map(_length, pieces))
        for places in batches_by_length(lengths, batch_size=self.batch_size, max_tokens=self.max_tokens):
            batch = [pieces[place] for place in places]
            texts = [sentences[index][window.start : window.end] for index, window in batch]
            names = [f"line {first + piece.sentence + 1}" for piece in batch]
            if pool is None:
                yield self._parts(batch, self.vectors(texts, names))
            else:
                waiting.append((batch, pool.submit(_vectors, texts, names)))
            if pool is not None and len(waiting) > 2 * pool._max_workers:  # type: ignore[attr-defined]
                batch, future = waiting.popleft()
                yield self._parts(batch, future.result())
        for batch, future in waiting:
            yield self._parts(batch, future.result())

    def _parts(self, batch: list[Piece], vectors: np.ndarray) -> list[tuple[Piece, np.ndarray]]:
        """Vectors [L, B, T, D] by piece, without padding and without the tokens taken from other windows."""
        rows = vectors.swapaxes(0, 1)  # [B, L, T, D]
        windows = (piece.window for piece in batch)
        parts = (
            row[:, first - start : last - start] for row, (start, _, first, last) in zip(rows, windows, strict=True)
        )
        return list(zip(batch, parts if self._has_layers else (part[0] for part in parts), strict=True))

    def vectors(self, sentences: list[list[str]], names: list[str]) -> np.ndarray:
        """
        The vectors of a batch, shape [L, B, T, D]; L is 1 for the outputs `top` and `average`.

        Raises `InputError` with the name of a sentence if one of its values is not finite in the file's data type, or
        if memory runs out.
        """
        hint = "a smaller --max-tokens or --max-length"
        with explain_oom([len(sentence) for sentence in sentences], names, hint=hint):
            layers = self._layers(sentences)  # [L, B, T, D]
        if name := _first_not_finite(layers, names):
            file = str(self.settings.get("weight_file", "biLM"))
            raise InputError(
                f"{name}: expected finite vectors, got infinity or NaN", file=file, hint="use other weights"
            )
        layers = layers.half() if self.float16 else layers
        if name := _first_not_finite(layers, names):
            raise InputError(f"{name}: a value is too large for float16", hint="use float32")
        return layers.cpu().numpy()

    @torch.no_grad()
    def _layers(self, sentences: list[list[str]]) -> torch.Tensor:
        ids = batch_to_ids(sentences, longest=MOST_CHARACTERS).to(next(self.bilm.parameters()).device)
        layers, mask = self.bilm(ids) if self.cache is None else self.cache.layers(self.bilm, ids)
        if self.mix is not None:
            return self.mix(layers, mask)[None]
        if self.output == "average":
            return layers.mean(0, keepdim=True)
        return layers[-1:] if self.output == "top" else layers

    @property
    def _has_layers(self) -> bool:
        return self.output == "all" and self.mix is None

    def _layer_names(self) -> str:
        """The names of the layers in the file, as JSON."""
        if self.mix is not None:
            shares = ", ".join(f"{share:.3g}" for share in self.mix.layer_weights().tolist())
            return json.dumps([f"mix of the layers with the weights {shares}"])
        lowest = "context-free" if isinstance(self.bilm, BiLM) else "embeddings"
        names = [f"layer 0, {lowest}", *(f"layer {layer}" for layer in range(1, self.bilm.n_layers))]
        chosen = {"all": names, "top": names[-1:], "average": [f"mean of layers 0 to {self.bilm.n_layers - 1}"]}
        return json.dumps(chosen[self.output])


def _first_not_finite(layers: torch.Tensor, names: list[str]) -> str | None:
    """The name of the first of B sentences with NaN or infinity in layers [L, B, T, D]."""
    finite = layers.isfinite().flatten(2).all(2).all(0).tolist()  # [B]
    return None if all(finite) else names[finite.index(False)]


def _length(piece: Piece) -> int:
    return piece.window.end - piece.window.start


@contextmanager
def workers(extraction: Extraction, count: int) -> Iterator[Executor | None]:
    """`count` processes for `batches`, `None` for one, which exit with this one. A killed one is an `InputError`."""
    require_workers(count)
    if count == 1:
        return (yield None)
    sent = pickle.dumps(replace(extraction, parse=str.split))  # bytes: torch would pass file descriptors
    threads = max(1, torch.get_num_threads() // count)
    with worker_pool(count, _start_worker, sent, threads) as pool:
        yield pool


_of_worker: list[Extraction] = []


def _start_worker(extraction: bytes, threads: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; this one exits with its parent
    torch.set_num_threads(threads)
    _of_worker.append(pickle.loads(extraction))


def _vectors(sentences: list[list[str]], names: list[str]) -> np.ndarray:
    """`Extraction.vectors` in a worker."""
    return _of_worker[0].vectors(sentences, names)


def check_window(limit: int, overlap: int) -> None:
    """Raise `InputError` if windows of `limit` tokens cannot overlap by `overlap`."""
    if not 1 <= limit <= _LARGEST:
        raise InputError(f"max_length: expected a number from 1 to {_LARGEST}, got {limit}")
    if not 0 <= overlap <= limit // 2:
        raise InputError(f"overlap: expected a number from 0 to half of max_length, {limit // 2}, got {overlap}")


def windows(length: int, *, limit: int, overlap: int) -> list[Window]:
    """
    Split a sentence of `length` tokens into windows of `limit` tokens; an empty sentence has none.

    Neighbours share `overlap` tokens; the last two may share more, since the last window ends with the sentence. A
    token is taken from the window in which it has most context, not counting the ends of the sentence.
    """
    if length <= limit:
        return [Window(0, length, 0, length)] if length else []
    starts = [*range(0, length - limit, limit - overlap), length - limit]
    middles = [(one + limit + other + 1) // 2 for one, other in zip(starts, starts[1:], strict=False)]
    bounds = zip(starts, [0, *middles], [*middles, length], strict=True)
    return [Window(start, start + limit, first, last) for start, first, last in bounds]
