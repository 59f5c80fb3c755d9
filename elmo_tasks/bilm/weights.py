"""Read and write the official `weights.hdf5`: its dataset names, shapes and gate order."""

import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np
import torch
from torch import Tensor, nn

from elmo_tasks.atomic import atomic_write
from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.characters import CHARACTERS
from elmo_tasks.bilm.lstm import ProjectedLstm
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.errors import InputError
from elmo_tasks.hdf5 import own_item, reading, write_hdf5

_FILE_GATES = "ijfo"
_OUR_GATES = "iofj"

_MOST_COMPRESSED = 100
"""No file of trained weights is smaller than its parameters by so much."""

_HARMLESS = 2**24
"""Bytes that are taken whatever the file is like; what is wrong with it is told then."""

_COUNTABLE = 10**18


class _Dataset(NamedTuple):
    """A dataset of the file: its name and shape, and how it goes into the biLM and comes out of it."""

    name: str
    shape: tuple[int, ...]
    put: Callable[[np.ndarray], None]
    get: Callable[[], np.ndarray]


def local_path(path_or_url: str | Path) -> Path:
    """A path as it is; a URL downloaded once to the local cache (needs the package `cached_path`)."""
    text = str(path_or_url)
    if "://" not in text:
        return Path(text)
    try:
        from cached_path import cached_path  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(f"cannot fetch {text}", hint="pip install cached-path, or download it yourself") from None
    try:
        return Path(cached_path(text))
    except Exception as error:  # the package raises whatever its many transports raise
        raise InputError(f"cannot fetch {text}: {error}") from error


def file_sha256(path: str | Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require_fitting_size(options: BiLMOptions, weight_file: str | Path, *, options_file: str | Path) -> None:
    """
    # Raises

    `InputError` where the options ask for a biLM far larger than the weight file, before it takes that memory; about
    the weight file where it is truncated or not HDF5.
    """
    if not Path(weight_file).is_file():
        return
    needed = options.n_parameters * np.float32().nbytes
    if needed > max(_HARMLESS, _MOST_COMPRESSED * Path(weight_file).stat().st_size):
        with _reading(weight_file):
            h5py.File(weight_file, "r").close()
        few = options.n_parameters < _COUNTABLE
        found = f"{options.n_parameters:,} parameters" if few else "more parameters than can be counted"
        raise InputError(f"the options ask for {found}, which {weight_file} cannot hold", file=options_file)


def load_weights(bilm: BiLM, weight_file: str | Path, *, options_file: str | Path) -> None:
    """
    Load the parameters of an unpacked biLM from an official `weights.hdf5`.

    Datasets are copied one at a time, so that memory holds the weights once.

    # Raises

    `InputError` if the file is missing, truncated or not HDF5, or takes values from elsewhere; or listing every dataset
    that is missing, unused, of another shape, or not of finite numbers. The valid datasets have been loaded then.
    """
    wanted = list(_datasets(bilm))
    if not Path(weight_file).is_file():
        raise InputError("no such file: the biLM's weights", file=weight_file)
    with _reading(weight_file), h5py.File(weight_file, "r") as file:
        problems = list(_filled(wanted, _stored(file)))
    if problems:
        listing = "".join(f"\n  {problem}" for problem in problems)
        raise InputError(f"does not match {options_file}:{listing}", file=weight_file)


def save_weights(bilm: BiLM, weight_file: str | Path, *, mantissa_bits: int | None = None) -> None:
    """Write a biLM as an official `weights.hdf5` in float32, compressed without loss after any rounding."""
    bilm = copy.deepcopy(bilm).unpack() if bilm.is_packed else bilm
    write_hdf5({dataset.name: dataset.get() for dataset in _datasets(bilm)}, weight_file, mantissa_bits=mantissa_bits)


def save_options(options: BiLMOptions, options_file: str | Path) -> None:
    """Write an official `options.json`."""
    with atomic_write(options_file) as aside:
        aside.write_text(json.dumps(options.to_dict(), indent=2) + "\n", "utf-8")


def _reading(weight_file: str | Path) -> AbstractContextManager[None]:
    return reading(weight_file, "cannot read the biLM's weights as HDF5", hint="is the download complete?")


def _stored(file: h5py.File) -> dict[str, h5py.Dataset]:
    """What the file holds, by name; nothing is read, since any size can be claimed."""
    names: list[str] = []
    file.visit_links(names.append)
    return {name: item for name in names if isinstance(item := own_item(file, name), h5py.Dataset)}


def _shape(dataset: h5py.Dataset) -> tuple[int, ...]:
    """The shape; of characters without the superfluous row."""
    shape = tuple(dataset.shape or ())
    return (CHARACTERS, *shape[1:]) if _has_padding_row(dataset) else shape


def _has_padding_row(dataset: h5py.Dataset) -> bool:
    return dataset.name == "/char_embed" and dataset.ndim == 2 and dataset.shape[0] == CHARACTERS + 1


def _read(dataset: h5py.Dataset) -> np.ndarray:
    """
    The numbers. Of 262 rows of characters the superfluous one goes: the first where it is the zeros of a padding token,
    else the last, which a training with `n_characters` 262 makes and never uses.
    """
    values: np.ndarray = dataset[...]
    if not _has_padding_row(dataset):
        return values
    return values[1:] if not values[0].any() else values[:-1]


def _filled(wanted: list[_Dataset], stored: dict[str, h5py.Dataset]) -> Iterator[str]:
    """Puts each dataset to its place; yields what is wrong with the others."""
    for one in wanted:
        dataset = stored.get(one.name)
        if dataset is None:
            yield f"missing: {one.name} {one.shape}"
        elif _shape(dataset) != one.shape:
            yield f"wrong shape: {one.name} wanted {one.shape}, found {_shape(dataset)}"
        elif not np.issubdtype(dataset.dtype, np.floating) or not _fits_float32(values := _read(dataset)):
            yield f"not finite numbers: {one.name} ({dataset.dtype})"
        else:
            one.put(values)
    known = {one.name for one in wanted}
    yield from (f"unused: {name} {_shape(dataset)}" for name, dataset in sorted(stored.items()) if name not in known)


def _fits_float32(array: np.ndarray) -> bool:
    with np.errstate(over="ignore"):
        return bool(np.isfinite(array.astype(np.float32, copy=False)).all())


def _datasets(bilm: BiLM) -> Iterator[_Dataset]:
    encoder = bilm.token_encoder
    yield _plain("char_embed", encoder.characters)
    for index, convolution in enumerate(encoder.convolutions):
        yield _convolution(f"CNN/W_cnn_{index}", convolution.weight)
        yield _plain(f"CNN/b_cnn_{index}", convolution.bias)
    for index, highway in enumerate(encoder.highways):
        for name, linear in (("carry", highway.gate), ("transform", highway.transform)):
            yield _transposed(f"CNN_high_{index}/W_{name}", linear.weight)
            yield _plain(f"CNN_high_{index}/b_{name}", linear.bias)
    yield _transposed("CNN_proj/W_proj", encoder.projection.weight)
    yield _plain("CNN_proj/b_proj", encoder.projection.bias)
    for direction, stack in enumerate((bilm.forward_stack, bilm.backward_stack)):
        for depth, layer in enumerate(stack.layers):
            yield from _lstm(f"RNN_{direction}/RNN/MultiRNNCell/Cell{depth}/LSTMCell", layer)


def _lstm(prefix: str, layer: ProjectedLstm) -> Iterator[_Dataset]:
    split = layer.input_weight.shape[1]

    def put_kernel(kernel: np.ndarray) -> None:
        rows = _reorder(kernel.T, _FILE_GATES, _OUR_GATES)
        _assign(layer.input_weight, rows[:, :split])
        _assign(layer.hidden_weight, rows[:, split:])

    def get_kernel() -> np.ndarray:
        joint = np.concatenate([_array(layer.input_weight), _array(layer.hidden_weight)], 1)
        return _reorder(joint, _OUR_GATES, _FILE_GATES).T

    width = split + layer.projection_dim
    yield _Dataset(f"{prefix}/W_0", (width, 4 * layer.dim), put_kernel, get_kernel)
    yield _Dataset(
        f"{prefix}/B",
        (4 * layer.dim,),
        lambda bias: _assign(layer.bias, _reorder(bias, _FILE_GATES, _OUR_GATES)),
        lambda: _reorder(_array(layer.bias), _OUR_GATES, _FILE_GATES),
    )
    yield _transposed(f"{prefix}/W_P_0", layer.projection)


def _reorder(rows: np.ndarray, given: str, wanted: str) -> np.ndarray:
    """Rearrange the four gate blocks along the first axis."""
    blocks = dict(zip(given, np.split(rows, 4), strict=True))
    return np.concatenate([blocks[gate] for gate in wanted])


def _plain(name: str, parameter: Tensor) -> _Dataset:
    return _Dataset(name, tuple(parameter.shape), lambda a: _assign(parameter, a), lambda: _array(parameter))


def _transposed(name: str, parameter: Tensor) -> _Dataset:
    shape = (parameter.shape[1], parameter.shape[0])
    return _Dataset(name, shape, lambda a: _assign(parameter, a.T), lambda: _array(parameter).T)


def _convolution(name: str, weight: nn.Parameter) -> _Dataset:
    """TensorFlow's [1, width, in, out] against torch's [out, in, width]."""
    count, channels, width = weight.shape
    return _Dataset(
        name,
        (1, width, channels, count),
        lambda a: _assign(weight, a[0].transpose(2, 1, 0)),
        lambda: _array(weight).transpose(2, 1, 0)[None],
    )


def _assign(parameter: Tensor, values: np.ndarray) -> None:
    with torch.no_grad():
        parameter.copy_(torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32)))


def _array(parameter: Tensor) -> np.ndarray:
    return parameter.detach().float().cpu().numpy()
