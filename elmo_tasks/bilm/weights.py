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

_MOST_COMPRESSED = 100  # files of trained weights are not compressed further
_SMALL_BYTES = 2**24  # memory that may be allocated for any file


class _Dataset(NamedTuple):
    """Name and shape of a dataset in the file, and functions that set and return its parameter."""

    name: str
    shape: tuple[int, ...]
    put: Callable[[np.ndarray], None]
    get: Callable[[], np.ndarray]


def local_path(path_or_url: str | Path) -> Path:
    """A path unchanged; a URL is downloaded once to the local cache (needs the package `cached_path`)."""
    text = str(path_or_url)
    if "://" not in text:
        return Path(text)
    try:
        from cached_path import cached_path  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(f"cannot fetch {text}", hint="pip install cached-path, or download it yourself") from None
    try:
        return Path(cached_path(text))
    except Exception as error:  # its transports raise errors of many types
        raise InputError(f"cannot fetch {text}: {error}") from error


def file_sha256(path: str | Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_size(options: BiLMOptions, weight_file: str | Path, *, options_file: str | Path) -> None:
    """
    # Raises

    `InputError` if the options describe a biLM far larger than the weight file, before memory is allocated for it, or
    if the weight file is truncated or not HDF5.
    """
    if not Path(weight_file).is_file():
        raise InputError("no such file: the biLM's weights", file=weight_file)
    needed = options.n_parameters * np.float32().nbytes
    if needed > max(_SMALL_BYTES, _MOST_COMPRESSED * Path(weight_file).stat().st_size):
        with _reading(weight_file):
            h5py.File(weight_file, "r").close()
        found = f"{float(min(options.n_parameters, 10**300)):.3g} parameters"
        raise InputError(f"the options describe {found}, which {weight_file} cannot hold", file=options_file)


def load_weights(bilm: BiLM, weight_file: str | Path, *, options_file: str | Path) -> None:
    """
    Load the parameters of an unpacked biLM from an official `weights.hdf5`.

    Datasets are copied one at a time, so that memory holds the weights once.

    # Raises

    `InputError` if the file is truncated, not HDF5 or has external values; or listing every dataset that is missing,
    unused, of another shape, or not of finite numbers. The valid datasets have been loaded then.
    """
    expected = {dataset.name: dataset for dataset in _datasets(bilm)}
    with _reading(weight_file), h5py.File(weight_file, "r") as file:
        stored = _stored(file)
        problems = [problem for one in expected.values() if (problem := _load(one, stored.get(one.name)))]
        unused = sorted(stored.keys() - expected.keys())
        problems += [f"unused: {name} {_shape(stored[name])}" for name in unused]
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
    """The datasets of the file by name; no values are read, since a file can claim any size."""
    names: list[str] = []
    file.visit_links(names.append)
    return {name: item for name in names if isinstance(item := own_item(file, name), h5py.Dataset)}


def _shape(dataset: h5py.Dataset) -> tuple[int, ...]:
    """The shape, without the padding row of the characters."""
    shape = tuple(dataset.shape or ())
    return (CHARACTERS, *shape[1:]) if _has_padding_row(dataset) else shape


def _has_padding_row(dataset: h5py.Dataset) -> bool:
    return dataset.name == "/char_embed" and dataset.ndim == 2 and dataset.shape[0] == CHARACTERS + 1


def _read(dataset: h5py.Dataset) -> np.ndarray:
    """
    The values. One of 262 rows of characters is dropped: the first if it is zeros, for padding tokens, else the last,
    which training with `n_characters` 262 creates and never uses.
    """
    values: np.ndarray = dataset[...]
    if not _has_padding_row(dataset):
        return values
    return values[1:] if not values[0].any() else values[:-1]


def _load(expected: _Dataset, dataset: h5py.Dataset | None) -> str | None:
    """Copy a dataset to its parameter; returns what is wrong with it."""
    if dataset is None:
        return f"missing: {expected.name} {expected.shape}"
    if _shape(dataset) != expected.shape:
        return f"wrong shape: {expected.name}: expected {expected.shape}, got {_shape(dataset)}"
    if not np.issubdtype(dataset.dtype, np.floating) or not _fits_float32(values := _read(dataset)):
        return f"not finite numbers: {expected.name} ({dataset.dtype})"
    expected.put(values)
    return None


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


def _reorder(rows: np.ndarray, source: str, target: str) -> np.ndarray:
    """Rearrange the four gate blocks along the first axis."""
    blocks = dict(zip(source, np.split(rows, 4), strict=True))
    return np.concatenate([blocks[gate] for gate in target])


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
