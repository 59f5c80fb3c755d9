"""
Read and write the official `weights.hdf5`: its dataset names, shapes and gate order.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np
import torch
from torch import Tensor, nn

from elmo_tasks.bilm.characters import CHARACTERS
from elmo_tasks.bilm.lstm import LstmStack
from elmo_tasks.bilm.options import TUNED_FROM, Ancestry, BiLMOptions, ancestry_to_json
from elmo_tasks.bilm.packed_linear import PackableModule
from elmo_tasks.bilm.token_encoder import (
    CharacterConvolution,
    PackableLinear,
    TokenEncoder,
)
from elmo_tasks.errors import InputError
from elmo_tasks.formats.bilm_files import MODEL_TYPE, Format
from elmo_tasks.formats.hdf5 import not_stored, reading, write_hdf5
from elmo_tasks.system.files import write_text

_FILE_GATES = "ijfo"
_OUR_GATES = "iofj"

_MOST_COMPRESSED = 100  # files of trained weights are not compressed further
_SMALL_BYTES = 2**24  # memory that may be allocated for any file


class Parts(NamedTuple):
    """The modules of a biLM whose parameters are in the file."""

    token_encoder: TokenEncoder
    forward_stack: LstmStack
    backward_stack: LstmStack


class _Dataset(NamedTuple):
    """
    A dataset of the file, and the parameters that it holds side by side; files have all
    axes in reverse order.
    """

    name: str
    parameters: tuple[Tensor, ...]
    gates: bool = False
    reversed: bool = True

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in the file; convolutions have an additional axis."""
        shape = tuple(self.parameters[0].shape[:-1]) + (sum(self._widths),)
        if self.reversed:
            shape = shape[::-1]
        if len(shape) == 3:
            shape = (1,) + shape
        return shape

    @property
    def _widths(self) -> list[int]:
        return [parameter.shape[-1] for parameter in self.parameters]

    def get(self) -> np.ndarray:
        """The values of the parameters, as in the file."""
        parts = []
        for parameter in self.parameters:
            parts.append(parameter.detach().float().cpu().numpy())
        values = np.concatenate(parts, -1)
        if self.gates:
            blocks = np.split(values, 4)
            order = [_OUR_GATES.index(gate) for gate in _FILE_GATES]
            values = np.concatenate([blocks[index] for index in order])
        if self.reversed:
            values = values.T
        if values.ndim == 3:
            values = values[None]
        return values

    @torch.no_grad()
    def put(self, values: np.ndarray) -> None:
        """Copies the values of the file to the parameters."""
        if values.ndim == 4:
            values = values[0]
        if self.reversed:
            values = values.T
        tensor = torch.from_numpy(values.astype(np.float32, copy=False))
        order = [0]
        if self.gates:
            order = [_FILE_GATES.index(gate) for gate in _OUR_GATES]
        parts = tensor.split(self._widths, -1)
        for parameter, part in zip(self.parameters, parts, strict=True):
            blocks = part.chunk(len(order))
            targets = parameter.chunk(len(order))
            for target, index in zip(targets, order, strict=True):
                target.copy_(blocks[index])


def check_size(
    options: BiLMOptions, weight_file: str | Path, *, options_file: str | Path
) -> None:
    """
    Raises `InputError` if the options describe a biLM far larger than the weight file,
    before memory is allocated for it.
    """
    if not Path(weight_file).is_file():
        raise InputError("no such file: the biLM's weights", file=weight_file)
    needed = options.n_parameters * np.float32().nbytes
    if needed > max(_SMALL_BYTES, _MOST_COMPRESSED * Path(weight_file).stat().st_size):
        found = f"{options.n_parameters:.3g} parameters"
        raise InputError(
            f"the options describe {found}, more than {weight_file} can hold",
            file=options_file,
            hint="is the download complete?",
        )


def load_weights(
    parts: Parts,
    weight_file: str | Path,
    *,
    options_file: str | Path,
    pack: torch.dtype | None = None,
) -> None:
    """
    Load the parameters of an unpacked biLM from an official `weights.hdf5`, one at a
    time, so that memory holds them once. If `pack` is given, each layer is packed for
    products of that type as soon as it is loaded.

    Raises `InputError` if the file is truncated, not HDF5 or has external values; or
    listing every dataset that is missing, unused, of another shape or type, or not of
    finite numbers. The valid datasets have been loaded then.
    """
    with _reading(weight_file), h5py.File(weight_file, "r") as file:
        stored = _stored(file)
        shapes = {name: _shape(dataset) for name, dataset in stored.items()}
        expected = {}
        problems = []
        for layer, datasets in _layers(parts):
            for dataset in datasets:
                expected[dataset.name] = dataset.shape
                if shapes.get(dataset.name) == dataset.shape:
                    problems += _load(dataset, stored[dataset.name])
            if pack is not None and isinstance(layer, PackableModule):
                layer.pack(pack)
    require_match(expected, shapes, problems, weight_file, options_file)


def require_match(
    expected: Mapping[str, tuple[int, ...]],
    found: Mapping[str, tuple[int, ...]],
    problems: Sequence[str],
    weight_file: str | Path,
    options_file: str | Path,
) -> None:
    """
    Raises `InputError` which lists the tensors of a file, by their names and shapes,
    that are missing, of another shape or unused, and further `problems`.
    """
    listed = [f"does not match {options_file}:", *problems]
    for name, shape in expected.items():
        if name not in found:
            listed.append(f"missing: {name} {shape}")
        elif found[name] != shape:
            listed.append(f"wrong shape: {name}: expected {shape}, got {found[name]}")
    for name in sorted(found.keys() - expected.keys()):
        listed.append(f"unused: {name} {found[name]}")
    if len(listed) > 1:
        raise InputError("\n  ".join(listed), file=weight_file)


def save_weights(
    parts: Parts,
    weight_file: str | Path,
    *,
    mantissa_bits: int | None = None,
    compress: bool = True,
) -> None:
    """
    Write an unpacked biLM as an official `weights.hdf5`, float32, by default
    compressed without loss after any rounding.
    """
    arrays = {}
    for _, datasets in _layers(parts):
        for dataset in datasets:
            arrays[dataset.name] = dataset.get()
    write_hdf5(arrays, weight_file, mantissa_bits=mantissa_bits, compress=compress)


def save_options(
    options: BiLMOptions,
    options_file: str | Path,
    *,
    chosen: Format = "hdf5",
    ancestry: Ancestry = (),
) -> None:
    """
    Write an `options.json`, or for the format safetensors a `config.json`, which names
    the biLMs from which this one was tuned.
    """
    written = options.to_dict()
    if ancestry:
        written[TUNED_FROM] = ancestry_to_json(ancestry)
    if chosen == "safetensors":
        written = MODEL_TYPE | written
    write_text(options_file, json.dumps(written, indent=2) + "\n")


def _reading(weight_file: str | Path) -> AbstractContextManager[None]:
    return reading(
        weight_file,
        "cannot read the biLM's weights as HDF5",
        hint="is the download complete?",
    )


def _stored(file: h5py.File) -> dict[str, h5py.Dataset]:
    """
    The datasets of the file by name, without links; no values are read, since a file
    can claim any size.
    """
    datasets = {}

    def add(name: str, item: h5py.Dataset | h5py.Group) -> None:
        if isinstance(item, h5py.Dataset):
            datasets[name] = item

    file.visititems(add)
    return datasets


def _shape(dataset: h5py.Dataset) -> tuple[int, ...]:
    shape = tuple(dataset.shape or ())
    if _has_padding_row(dataset):
        return (CHARACTERS,) + shape[1:]
    return shape


def _has_padding_row(dataset: h5py.Dataset) -> bool:
    return (
        dataset.name == "/char_embed"
        and dataset.ndim == 2
        and dataset.shape[0] == CHARACTERS + 1
    )


def _read(dataset: h5py.Dataset) -> np.ndarray:
    """
    The values. One of 262 rows of characters is dropped: the first if it is zeros, for
    padding tokens, else the last, which training with `n_characters` 262 creates and
    never uses.
    """
    values: np.ndarray = dataset[...]
    if not _has_padding_row(dataset):
        return values
    return values[1:] if not values[0].any() else values[:-1]


def _load(expected: _Dataset, dataset: h5py.Dataset) -> list[str]:
    """Copy a dataset to its parameter; returns what is wrong with it."""
    if not np.issubdtype(dataset.dtype, np.floating):
        # Integers might be quantized weights, whose scale is stored elsewhere.
        return [f"wrong type: {expected.name}: expected floats, got {dataset.dtype}"]
    if problem := not_stored(dataset):
        return [f"not read: {expected.name}: {problem}"]
    values = _read(dataset)
    with np.errstate(over="ignore"):
        if not np.isfinite(values.astype(np.float32, copy=False)).all():
            return [f"not finite numbers: {expected.name} ({dataset.dtype})"]
    expected.put(values)
    return []


def _layers(parts: Parts) -> Iterator[tuple[nn.Module, list[_Dataset]]]:
    """The layers of a biLM, each with the datasets of its parameters."""
    encoder = parts.token_encoder
    yield encoder, [_Dataset("char_embed", (encoder.characters,), reversed=False)]
    for index, convolution in enumerate(encoder.convolutions):
        yield convolution, _affine("CNN", f"cnn_{index}", convolution)
    for index, highway in enumerate(encoder.highways):
        for name, linear in (("carry", highway.gate), ("transform", highway.transform)):
            yield linear, _affine(f"CNN_high_{index}", name, linear)
    yield encoder.projection, _affine("CNN_proj", "proj", encoder.projection)
    for direction, stack in enumerate((parts.forward_stack, parts.backward_stack)):
        for depth, layer in enumerate(stack.layers):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{depth}/LSTMCell"
            gates = _Dataset(
                f"{cell}/W_0", (layer.input_weight, layer.hidden_weight), gates=True
            )
            bias = _Dataset(f"{cell}/B", (layer.bias,), gates=True)
            yield layer, [gates, bias, _Dataset(f"{cell}/W_P_0", (layer.projection,))]


def _affine(
    scope: str, name: str, layer: CharacterConvolution | PackableLinear
) -> list[_Dataset]:
    return [
        _Dataset(f"{scope}/W_{name}", (layer.weight,)),
        _Dataset(f"{scope}/b_{name}", (layer.bias,)),
    ]
