"""The official `weights.hdf5`, read and written; the one place that knows its dataset names, shapes and gate order."""

import hashlib
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np
import torch
from torch import Tensor, nn

from elmo_tasks.atomic import written_aside
from elmo_tasks.elmo.bilm import BiLm
from elmo_tasks.elmo.characters import CHARACTERS
from elmo_tasks.elmo.lstm import ProjectedLstm
from elmo_tasks.elmo.options import BiLmOptions
from elmo_tasks.errors import InputError

_FILE_GATES = "ijfo"
_OUR_GATES = "iofj"
FLOAT32_MANTISSA = 23

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


def require_fitting_size(options: BiLmOptions, weight_file: str | Path, *, options_file: str | Path) -> None:
    """
    # Raises

    `InputError` where the options ask for a biLM far larger than the weight file, before it takes that memory.
    """
    if not Path(weight_file).is_file():
        return
    needed = options.n_parameters * np.float32().nbytes
    if needed > max(_HARMLESS, _MOST_COMPRESSED * Path(weight_file).stat().st_size):
        few = options.n_parameters < _COUNTABLE
        found = f"{options.n_parameters:,} parameters" if few else "more parameters than can be counted"
        raise InputError(f"the options ask for {found}, which {weight_file} cannot hold", file=options_file)


def load_weights(bilm: BiLm, weight_file: str | Path, *, options_file: str | Path) -> None:
    """
    Fill a biLM from an official `weights.hdf5`.

    # Raises

    `InputError` where the file is missing, truncated or not HDF5; or listing every dataset that is missing,
    unused, of a wrong shape (wanted and found) or not of finite numbers. The sound ones have filled the biLM then:
    each goes to its place before the next is read, so that memory holds the weights once.
    """
    wanted = list(_datasets(bilm))
    if not Path(weight_file).is_file():
        raise InputError("no such file: the biLM's weights", file=weight_file)
    try:
        with h5py.File(weight_file, "r") as file:
            problems = list(_filled(wanted, _stored(file)))
    except (OSError, RuntimeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"cannot read the biLM's weights as HDF5: {error}", file=weight_file, hint="is the download complete?"
        ) from None
    if problems:
        listing = "".join(f"\n  {problem}" for problem in problems)
        raise InputError(f"does not match {options_file}:{listing}", file=weight_file)


def save_weights(bilm: BiLm, weight_file: str | Path, *, mantissa_bits: int | None = None) -> None:
    """Write a biLM as an official `weights.hdf5` in float32, compressed without loss after any rounding."""
    write_hdf5({dataset.name: dataset.get() for dataset in _datasets(bilm)}, weight_file, mantissa_bits=mantissa_bits)


def save_options(options: BiLmOptions, options_file: str | Path) -> None:
    """Write an official `options.json`."""
    with written_aside(options_file) as aside:
        aside.write_text(json.dumps(options.to_dict(), indent=2) + "\n", "utf-8")


def write_hdf5(arrays: dict[str, np.ndarray], path: str | Path, *, mantissa_bits: int | None = None) -> None:
    """Write named float32 arrays, rounded to `mantissa_bits` where given; the file is whole or absent."""
    image = io.BytesIO()  # HDF5 itself crashes the process where the disk is full
    with h5py.File(image, "w") as file:
        for name, array in arrays.items():
            values = round_mantissa(array, mantissa_bits)
            file.create_dataset(name, data=values, shuffle=True, compression="gzip", compression_opts=9)
    with written_aside(path) as aside:
        aside.write_bytes(image.getbuffer())


def round_mantissa(array: np.ndarray, bits: int | None) -> np.ndarray:
    """Round float32 values to the nearest with `bits` (0..23) bits after the leading one, ties to even."""
    values = np.ascontiguousarray(array, dtype=np.float32)
    if bits is None or bits == FLOAT32_MANTISSA:
        return values
    if not 0 <= bits < FLOAT32_MANTISSA:
        raise ValueError(f"mantissa_bits must be from 0 to {FLOAT32_MANTISSA}, found {bits}")
    drop = FLOAT32_MANTISSA - bits
    raw = values.view(np.uint32)
    half = np.uint32((1 << (drop - 1)) - 1)
    raw = raw + half + ((raw >> np.uint32(drop)) & np.uint32(1))
    return (raw & np.uint32(~((1 << drop) - 1) & 0xFFFFFFFF)).view(np.float32)


def _stored(file: h5py.File) -> dict[str, h5py.Dataset]:
    """What the file holds, by name; nothing is read, since any size can be claimed."""
    datasets: dict[str, h5py.Dataset] = {}

    def collect(name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset):
            datasets[name] = item

    file.visititems(collect)
    return datasets


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


def _datasets(bilm: BiLm) -> Iterator[_Dataset]:
    bilm.restore()
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
