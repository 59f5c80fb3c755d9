"""
Write the vectors of a text to an HDF5 file, which appears under its name when it is
complete.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from pydantic import SkipValidation

from elmo_tasks.elmo.batching import (
    Line,
    Sentence,
    arrays_of,
    blocks,
    bytes_of,
    parsed,
)
from elmo_tasks.elmo.pooling import pooled
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.elmo.vectors.hdf5_reader import (
    FORMAT,
    OFFSETS,
    POOLING,
    SCALES,
    SENTENCE_TO_INDEX,
    SENTENCES,
    TOKENS,
)
from elmo_tasks.errors import InputError
from elmo_tasks.formats.hdf5 import new_hdf5
from elmo_tasks.option_values import BatchSizes, Pooling
from elmo_tasks.settings import PathLike, checked
from elmo_tasks.system.files import atomic_write, check_output_path

Lines = Iterable[tuple[int, Line]]
"""Lines, or lists of words, with their numbers, counted from 1."""

HDF5 = ("an HDF5 file, such as vectors.hdf5", ".hdf5", ".h5")
"""A format, as in `check_output_path`."""

_LONGEST_STRING = 2**31 - 1


@checked
def write_vectors(
    model: VectorModel,
    lines: SkipValidation[Lines],
    out: PathLike,
    *,
    sizes: BatchSizes | None = None,
    parse: Callable[[str], list[str]] = str.split,
    settings: Mapping[str, Any] | None = None,
    pooling: Pooling | None = None,
    force: bool = False,
    started: Callable[[Mapping[str, Any]], None] = lambda counts: None,
    progress: Callable[[int], None] = lambda tokens: None,
) -> None:
    """
    Write the vectors of all lines to `out`, atomically: an interrupted call leaves
    nothing.

    # Parameters

    - `lines`: read once, before the first vector is computed, and kept in memory;
      `parse` splits them into tokens.
    - `settings`: further attributes of the file: `input`, `model`,
      `model_sha256`, `tokenizer`, ...
    - `pooling`: write one vector for each sentence, `mean`, `max`, `first` or `last`
      over its tokens, zero for a blank line. It cannot be combined with int8, whose
      scales are those of tokens.
    - `force`: replace an existing `out`.
    - `started`: called with the numbers of sentences, tokens, blank and long lines
      before the first vector.
    - `progress`: called with the number of tokens whose vectors have been computed
      since the last call.

    Raises `InputError` if a line is invalid, `out` exists, or the disk is full.
    """
    check_output_path(out, force=force, format=HDF5)
    out = Path(out)
    sizes = sizes or BatchSizes()
    attributes = dict(settings or {})
    if pooling is not None:
        if model.stored == "int8":
            raise InputError("int8: expected vectors of tokens, not pooled ones")
        attributes[POOLING] = pooling
    sentences, counts = _read(lines, parse, sizes, attributes.get("input", "text"))
    started(counts)
    listed = _sentence_to_index(sentences)
    size = _most_bytes(model, sentences, listed, pooling)
    with atomic_write(out) as aside, new_hdf5(aside, size=size, name=out) as hdf5:
        _write_index(hdf5, sentences, listed)
        hdf5.attrs["format"] = FORMAT
        for part in (attributes, model.settings(), sizes.of_windows(), counts):
            hdf5.attrs.update(part)
        _write_arrays(hdf5, model, sizes, sentences, pooling, progress)


def _read(
    lines: Lines, parse: Callable[[str], list[str]], sizes: BatchSizes, name: str
) -> tuple[list[Sentence], dict[str, Any]]:
    """
    The sentences, and what else is known of the text before the first vector, as
    attributes of the file. Raises `InputError` if a line is invalid, or if there is
    none.
    """
    sentences = []
    digest = sha256()

    def rows() -> Iterator[tuple[str, int, Line]]:
        for number, line in lines:
            digest.update(bytes_of(line))
            yield name, number, line

    for sentence in parsed(rows(), parse):
        if "\0" in "".join(sentence.tokens):
            raise InputError(
                f"{sentence.name}: HDF5 cannot store a token with a NUL character"
            )
        sentences.append(sentence)
    if not sentences:
        raise InputError("expected at least one sentence, got none", file=name)
    lengths = [len(sentence.tokens) for sentence in sentences]
    long_lines = [length for length in lengths if length > sizes.max_length]
    return sentences, {
        "sentences": len(lengths),
        "tokens": sum(lengths),
        "blank_lines": lengths.count(0),
        "long_lines": len(long_lines),
        "text_sha256": digest.hexdigest(),
    }


def _sentence_to_index(sentences: list[Sentence]) -> bytes:
    """
    JSON that maps each line that is not blank to the name of its dataset. Raises
    `InputError` if it is too long for HDF5.
    """
    names = {}
    for index, sentence in enumerate(sentences):
        if sentence.tokens:
            names[sentence.text] = str(index)
    listed = json.dumps(names).encode()
    if len(listed) > _LONGEST_STRING:
        raise InputError("expected less than 2 GiB of text", hint="split the input")
    return listed


def _most_bytes(
    model: VectorModel,
    sentences: list[Sentence],
    listed: bytes,
    pooling: Pooling | None,
) -> int:
    """The size of the file, estimated generously; `listed` is `sentence_to_index`."""
    tokens = 0
    text = len(listed)
    for sentence in sentences:
        tokens += len(sentence.tokens)
        text += len(sentence.text.encode()) + len("".join(sentence.tokens).encode())
    layers = int(np.prod(model.shape(1)[:-2]))
    of_layer = model.dtype.itemsize * model.width + 4
    vectors = tokens if pooling is None else len(sentences)
    of_vectors = vectors * layers * of_layer
    return of_vectors + tokens * 64 + len(sentences) * 1024 + 2 * text + 2**16


def _write_index(hdf5: h5py.File, sentences: list[Sentence], listed: bytes) -> None:
    tokens: list[str] = []
    texts = []
    ends = [0]
    for sentence in sentences:
        tokens += sentence.tokens
        texts.append(sentence.text)
        ends.append(len(tokens))
    _write_strings(hdf5, SENTENCE_TO_INDEX, [listed])
    _write_strings(hdf5, TOKENS, tokens)
    _write_strings(hdf5, SENTENCES, texts)
    hdf5.create_dataset(OFFSETS, data=np.array(ends, "<i8"))


def _write_strings(hdf5: h5py.File, name: str, strings: list[Any]) -> None:
    kind = h5py.string_dtype()
    hdf5.create_dataset(name, data=strings, shape=(len(strings),), dtype=kind)


def _write_arrays(
    hdf5: h5py.File,
    model: VectorModel,
    sizes: BatchSizes,
    sentences: list[Sentence],
    pooling: Pooling | None,
    progress: Callable[[int], None],
) -> None:
    """
    Write the vectors of sentence i, or its pooled vector, as the dataset `i`, and the
    scales of int8 vectors.
    """
    of_one = model.shape(1)
    of_sentence = of_one[:-2] + of_one[-1:]  # without the axis of tokens
    written = 0
    scales = []
    for block in blocks(sentences, sizes):
        arrays = arrays_of(model, sizes, block, progress)
        if pooling is not None:
            arrays = list(pooled(arrays, pooling, of_sentence))
        for array in arrays:
            if model.stored == "int8":
                array, of_tokens = quantized(array)
                scales.append(np.atleast_2d(of_tokens).T)  # [T, L]
            hdf5.create_dataset(str(written), data=array, dtype=model.dtype)
            written += 1
    if scales:
        hdf5.create_dataset(SCALES, data=np.concatenate(scales))


def quantized(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Vectors [..., D] as int8, and their scales [...], float32. A value is the int8 times
    the scale; the largest absolute value of a vector is 127 times the scale.
    """
    scales = np.abs(vectors).max(-1) / np.float32(127)
    steps = np.rint(vectors / np.where(scales > 0, scales, 1)[..., None])
    return steps.astype(np.int8), scales
