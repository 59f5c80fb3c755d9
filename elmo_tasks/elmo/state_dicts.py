"""State dictionaries in torch's files, which others wrote: read without running code."""

import re
import warnings
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from elmo_tasks.errors import InputError

_CODE = re.compile(r"\bGLOBAL ([\w.]+)")
"""The function that a pickle would call, in torch's message."""


def read_tensors(file: Path, what: str, *, hint: str | None = None) -> dict[str, Tensor]:
    """The tensors of a file by name. Raises `InputError` if it is missing, damaged or no such dictionary."""
    if not file.is_file():
        raise InputError(f"no such file: {what}", file=file)
    try:
        with warnings.catch_warnings(action="ignore"):  # about other pickles, which are rejected
            found = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # damaged files raise errors of any kind
        raise InputError(f"cannot read {what}: {_reason(error)}", file=file, hint=hint) from None
    if not isinstance(found, Mapping) or not all(isinstance(value, Tensor) for value in found.values()):
        raise InputError(f"expected {what}, got {type(found).__name__}", file=file, hint=hint)
    return {str(name): value for name, value in found.items() if not value.is_nested}


def require_finite(tensors: Mapping[str, Tensor], what: str, file: Path) -> None:
    """Raise `InputError` that names the tensors without finite floating-point numbers, or with fewer than they say."""
    if infinite := [name for name, tensor in tensors.items() if not _is_finite(tensor)]:
        raise InputError(f"expected finite numbers in {what}, got others in {', '.join(infinite)}", file=file)


def _reason(error: Exception) -> str:
    """Why torch could not read a file, without its advice to run the code in it."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    code = _CODE.search(str(error))
    return f"it holds code, {code[1]}, which is not run" if code else "torch did not write it, or it is damaged"


def _is_finite(tensor: Tensor) -> bool:
    is_plain = tensor.layout is torch.strided and not tensor.is_meta and tensor.is_floating_point()
    is_whole = is_plain and tensor.untyped_storage().nbytes() >= tensor.numel() * tensor.itemsize
    return bool(is_whole and tensor.float().isfinite().all())
