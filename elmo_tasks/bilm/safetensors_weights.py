"""
Read and write a biLM as `model.safetensors`: its parameters by their names in
`state_dict`, float32.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from elmo_tasks.bilm.packed_linear import PackableModule
from elmo_tasks.bilm.weights import require_match
from elmo_tasks.errors import InputError
from elmo_tasks.formats.hdf5 import round_mantissa
from elmo_tasks.system.files import atomic_write

_FLOATS = ("F32", "F16", "BF16", "F64")
"""
What the format calls the types that are read. Others might be quantized weights, whose
scale is stored elsewhere.
"""


@contextmanager
def opened(weight_file: str | Path) -> Iterator[Any]:
    """
    The file, mapped into memory: values are read when they are used. Raises
    `InputError` if it is damaged, truncated or of another format.
    """
    try:
        with safe_open(weight_file, framework="pt") as file:
            yield file
    except (SafetensorError, OSError, RuntimeError) as error:
        raise InputError(
            f"cannot read the biLM's weights as safetensors: {error}",
            file=weight_file,
            hint="is the download complete?",
        ) from None


def load_tensors(
    bilm: nn.Module,
    weight_file: str | Path,
    *,
    options_file: str | Path,
    pack: torch.dtype | None = None,
) -> None:
    """
    As `weights.load_weights`, from a `model.safetensors`. Each tensor is copied from
    the mapped file to the memory of its parameter: where the values in the file begin
    depends on the length of its header, and matrix products at another alignment may
    round differently.
    """
    expected = {}
    problems = []
    with opened(weight_file) as file:
        names = file.keys()
        found = {}
        for name in names:
            found[name] = tuple(file.get_slice(name).get_shape())
        for prefix, layer in bilm.named_modules():
            for name, parameter in layer.named_parameters(prefix, recurse=False):
                expected[name] = tuple(parameter.shape)
                if found.get(name) == expected[name]:
                    problems += _load(name, parameter, file)
            if pack is not None and isinstance(layer, PackableModule):
                layer.pack(pack)
    require_match(expected, found, problems, weight_file, options_file)


def save_tensors(
    bilm: nn.Module, weight_file: str | Path, *, mantissa_bits: int | None = None
) -> None:
    """
    Write an unpacked biLM as a `model.safetensors`, float32, atomically; for
    `mantissa_bits` see `BiLM.save_files`.
    """
    tensors = {}
    for name, parameter in bilm.named_parameters():
        values = parameter.detach().float().cpu().contiguous()
        if mantissa_bits is not None:
            values = torch.from_numpy(round_mantissa(values.numpy(), mantissa_bits))
        tensors[name] = values
    with atomic_write(weight_file) as aside:
        # Not `save_file`, which replaces what is there by a file that only its owner
        # can read.
        aside.write_bytes(save(tensors, metadata={"format": "pt"}))


@torch.no_grad()
def _load(name: str, parameter: Tensor, file: Any) -> list[str]:
    """Copy a tensor to its parameter; returns what is wrong with it."""
    stored = file.get_slice(name)
    if stored.get_dtype() not in _FLOATS:
        return [f"wrong type: {name}: expected floats, got {stored.get_dtype()}"]
    values = file.get_tensor(name).float()  # of float32, in the mapped file
    if not values.isfinite().all():
        return [f"not finite numbers: {name} ({stored.get_dtype()})"]
    parameter.copy_(values)
    return []
