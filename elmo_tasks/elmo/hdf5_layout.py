"""
The layout of a file of vectors, which is written before the first vector, with the space for all of them.

Writing vectors afterwards changes no metadata of the file, so that it is intact whenever the process is killed.
"""

import json
from collections.abc import Sequence
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

from elmo_tasks.elmo.batching import BatchSizes
from elmo_tasks.elmo.hdf5_reader import DONE, OFFSETS, SCALES, SENTENCE_TO_INDEX, SENTENCES, TOKENS
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.errors import InputError

COUNTS = ("sentences", "tokens", "pieces", "blank_lines", "long_lines")
"""Attributes of the file; a piece is a window of a sentence."""

_BUFFERED = 20_000  # tokens and sentences in memory before they are written
_LONGEST_STRING = 2**31 - 1


class VectorLayout:
    """All datasets of a file of vectors, which are created line by line."""

    def __init__(self, hdf5: h5py.File, model: VectorModel, sizes: BatchSizes) -> None:
        self._hdf5, self._model, self._sizes = hdf5, model, sizes
        self._buffers: dict[str, list[Any]] = {TOKENS: [], SENTENCES: [], OFFSETS: [0]}
        for name in self._buffers:
            dtype = np.dtype("<i8") if name == OFFSETS else h5py.string_dtype()
            hdf5.create_dataset(name, (0,), maxshape=(None,), chunks=(2**14,), dtype=dtype)
        self._dtype, self._contiguous = h5t.py_create(model.dtype), _contiguous()
        self._json = bytearray(b"{")
        self.counts = dict.fromkeys(COUNTS, 0)

    def add(self, line: str, tokens: Sequence[str]) -> None:
        """Create the dataset of a line."""
        sentence, name = line.strip(), str(self.counts["sentences"])
        space = h5s.create_simple(self._model.shape(len(tokens)))
        h5d.create(self._hdf5.id, name.encode(), self._dtype, space, self._contiguous)
        if tokens:
            separator = ", " if len(self._json) > 1 else ""
            self._json += f'{separator}{json.dumps(sentence)}: "{name}"'.encode()
        self._count(len(tokens))
        self._buffers[TOKENS] += tokens
        self._buffers[SENTENCES].append(sentence)
        self._buffers[OFFSETS].append(self.counts["tokens"])
        if sum(map(len, self._buffers.values())) > _BUFFERED:
            self._flush()

    def finish(self) -> None:
        """Create the other datasets."""
        if not self.counts["sentences"]:
            raise InputError("expected at least one sentence, got none")
        if len(self._json) > _LONGEST_STRING:
            raise InputError("expected less than 2 GiB of text", hint="split the input")
        self._flush()
        self._hdf5.create_dataset(SENTENCE_TO_INDEX, (1,), h5py.string_dtype())[0] = bytes(self._json + b"}")
        if self._model.stored == "int8":
            layers = self._model.bilm.n_layers if self._model.has_layers else 1
            space = h5s.create_simple((self.counts["tokens"], layers))
            h5d.create(self._hdf5.id, SCALES.encode(), h5t.py_create(np.dtype("<f4")), space, self._contiguous)
        self._hdf5.create_dataset(DONE, data=np.zeros(1, "<i8"))

    def _count(self, length: int) -> None:
        pieces = len(self._sizes.windows(length))
        for name, more in zip(COUNTS, (1, length, pieces, not length, pieces > 1), strict=True):
            self.counts[name] += more

    def _flush(self) -> None:
        for name, values in self._buffers.items():
            if values:
                dataset = self._hdf5[name]
                start = len(dataset)
                dataset.resize((start + len(values),))
                dataset[start:] = values
                values.clear()


def _contiguous() -> h5p.PropDCID:
    """Properties of a dataset whose space is allocated at once, and whose metadata never changes afterwards."""
    properties = h5p.create(h5p.DATASET_CREATE)
    properties.set_layout(h5d.CONTIGUOUS)
    properties.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    properties.set_fill_time(h5d.FILL_TIME_NEVER)
    properties.set_obj_track_times(False)
    return properties
