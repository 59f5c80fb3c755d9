"""
Tensors of a TensorFlow checkpoint (format V2, as bilm-tf saves it), read without TensorFlow.

`PREFIX.index` is a table of sorted keys in the format of LevelDB: blocks of prefix-compressed entries, an index block,
and a footer of 48 bytes. Each value is a protocol buffer with the place of a tensor in `PREFIX.data-SSSSS-of-NNNNN`.
"""

import math
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from elmo_tasks.atomic import atomic_write_folder
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.bilm.weights import write_hdf5
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.export import OPTIONS_FILE, SOFTMAX_FILE, VOCABULARY_FILE, WEIGHT_FILE
from elmo_tasks.pretraining.vocabulary import WordVocabulary
from elmo_tasks.unpacking import require_regular

SOFTMAX = {"softmax/W": "lm/softmax/W", "softmax/b": "lm/softmax/b"}
"""Datasets of `softmax.hdf5`, and bilm-tf's names of the variables."""

ACCUMULATORS = "adagrad"
"""A folder like that of an exported language model, with the sums of Adagrad in place of the weights."""

_SLOT = "/Adagrad"
_RENAMED = {
    "/rnn/multi_rnn_cell/cell_": "/RNN/MultiRNNCell/Cell",
    "/lstm_cell/projection/kernel": "/LSTMCell/W_P_0",
    "/lstm_cell/kernel": "/LSTMCell/W_0",
    "/lstm_cell/bias": "/LSTMCell/B",
}

_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48
_FLOAT32 = 1


class Entry(NamedTuple):
    """Where the values of a float32 tensor lie."""

    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int


class TensorFlowCheckpoint:
    """
    The files of a `prefix` without `.index`, such as `model.ckpt-935588`. Raises `InputError` if the index is missing
    or not one of format V2.
    """

    def __init__(self, prefix: str | Path) -> None:
        self.prefix = Path(str(prefix).removesuffix(".index"))
        self._index = Path(f"{self.prefix}.index")
        try:
            require_regular(self._index)
            self.entries = dict(_entries(self._index.read_bytes()))
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", file=self._index) from error
        except (ValueError, TypeError, IndexError, struct.error, DecodeError) as error:
            raise InputError("expected the index of a TensorFlow checkpoint (V2)", file=self._index) from error
        shards = self.prefix.parent.glob(f"{self.prefix.name}.data-*-of-*")
        self._shards = dict(enumerate(sorted(shards)))

    def tensor(self, name: str) -> np.ndarray:
        """
        The values of a variable, mapped from the file: `float32`, in its shape. Raises `InputError` if there is no such
        float32 variable, or its file is missing or too short.
        """
        if name not in self.entries:
            known = ", ".join(sorted(self.entries)[:20])
            raise InputError(f"expected a float32 variable {name}; found {known}", file=self._index)
        entry = self.entries[name]
        shard = self._shards.get(entry.shard)
        if shard is None or shard.stat().st_size < entry.offset + entry.size:
            problem = f"the values of {name} are missing: expected {entry.offset + entry.size:,} bytes"
            raise InputError(problem, file=shard or f"{self.prefix}.data-{entry.shard:05}-of-*")
        return np.memmap(shard, "<f4", "r", entry.offset, entry.shape)


def _entries(index: bytes) -> Iterator[tuple[str, Entry]]:
    """The float32 variables of an index."""
    footer = index[-_FOOTER:]
    if struct.unpack("<Q", footer[-8:])[0] != _MAGIC:
        raise ValueError("no footer")
    place = 0
    for _ in range(2):  # the handle of the meta index, which is not needed
        _, place = _varint(footer, place)
    for _, handle in _block(index, *_handle(footer, place)):
        for key, value in _block(index, *_handle(handle, 0)):
            if key and _number(value, 1) == _FLOAT32:
                sizes = (size for shape in _fields(value, 2) for size in _fields(shape, 2))
                shape = tuple(_number(size, 1) for size in sizes)
                entry = Entry(shape, _number(value, 3), _number(value, 4), _number(value, 5))
                if entry.size != 4 * math.prod(shape):
                    raise ValueError("size and shape differ")
                yield key.decode("utf-8"), entry


def _handle(data: bytes, place: int) -> tuple[int, int]:
    offset, place = _varint(data, place)
    size, _ = _varint(data, place)
    return offset, size


def _block(index: bytes, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values of an uncompressed block; TensorFlow compresses none."""
    block = index[offset : offset + size]
    if len(block) != size or index[offset + size] != 0:
        raise ValueError("truncated or compressed block")
    restarts = struct.unpack("<I", block[-4:])[0]
    key, place = b"", 0
    while place < size - 4 * (restarts + 1):
        shared, place = _varint(block, place)
        rest, place = _varint(block, place)
        length, place = _varint(block, place)
        key = key[:shared] + block[place : place + rest]
        place += rest
        yield key, block[place : place + length]
        place += length


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """The number at `place`, seven bits a byte, and the place after it."""
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place


def _fields(message: bytes, number: int) -> list[Any]:
    """All values of a field of a protocol buffer."""
    return [field.data for field in UnknownFieldSet(Empty.FromString(message)) if field.field_number == number]


def _number(message: bytes, number: int) -> int:
    """The value of a numeric field; 0 if it is absent."""
    return int(next(iter(_fields(message, number)), 0))


def import_softmax(checkpoint: str | Path, vocabulary: str | Path, folder: str | Path) -> int:
    """
    Write `softmax.hdf5` and `vocabulary.txt` beside the `options.json` and `weights.hdf5` of a biLM that bilm-tf
    trained, so that its perplexity can be measured and it can be fine-tuned with its own softmax. Returns the number of
    words. The accumulators of Adagrad, if the checkpoint has them, are written to the folder `adagrad` there.

    `checkpoint` is the prefix of the checkpoint's files, such as `model.ckpt-935588`; `vocabulary` has the words of the
    softmax in its order; `folder` has `options.json`.

    Raises `InputError` if a file is missing or damaged, or words, softmax and options have different sizes. Nothing is
    written then.
    """
    place = Path(folder)
    words = WordVocabulary.from_file(vocabulary)
    width = BiLMOptions.from_file(place / OPTIONS_FILE).projection_dim
    opened = TensorFlowCheckpoint(checkpoint)
    softmax = {name: opened.tensor(variable) for name, variable in SOFTMAX.items()}
    shapes = [values.shape for values in softmax.values()]
    expected = [(len(words), width), (len(words),)]
    if shapes != expected:
        problem = f"expected the shapes {expected} (words of {vocabulary}, projection_dim), got {shapes}"
        raise InputError(problem, file=checkpoint)
    write_hdf5(softmax, place / SOFTMAX_FILE)
    words.save(place / VOCABULARY_FILE)
    sums = {_dataset(name): opened.tensor(name) for name in opened.entries if name.endswith(_SLOT)}
    if sums:
        with atomic_write_folder(place / ACCUMULATORS) as aside:
            shutil.copy(place / OPTIONS_FILE, aside)
            words.save(aside / VOCABULARY_FILE)
            write_hdf5({name: sums.pop(name) for name in SOFTMAX}, aside / SOFTMAX_FILE)
            write_hdf5(sums, aside / WEIGHT_FILE)
    return len(words)


def _dataset(variable: str) -> str:
    """The dataset of the official files for a variable of bilm-tf, or for its accumulator."""
    name = variable.removeprefix("lm/").removesuffix(_SLOT)
    for old, new in _RENAMED.items():
        name = name.replace(old, new)
    return name
