"""Files of `torch.save` from anywhere: torch runs no code in them."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor

from elmo_tasks.errors import InputError
from elmo_tasks.formats.unpacking import check_ratio, is_zip, require_regular


def load_tensors(file: str | Path, *, mapped: bool = False) -> Any:
    """
    What `torch.save` has written, such as tensors by their names; on the CPU. With
    `mapped`, a file of torch's present format is mapped into memory.

    Raises `UnpicklingError` if it has other objects than torch takes for safe, or its
    list of tensors is damaged, `ValueError` if it is damaged elsewhere, and `InputError` if its tensors are more than a
    hundred times as large as the file.
    """
    path = Path(file)
    require_regular(path)
    packed = path.stat().st_size
    try:
        is_present = is_zip(path)  # torch's present format
        if is_present:
            with zipfile.ZipFile(path) as records:
                size = sum([record.file_size for record in records.infolist()])
            check_ratio(size, packed, file)
            require_whole(path)
        use_map = mapped and is_present
        loaded = torch.load(path, map_location="cpu", mmap=use_map, weights_only=True)
    except (InputError, OSError):
        raise
    except UnpicklingError:  # torch advises to read it without protection
        raise UnpicklingError("it is damaged, or has more than tensors") from None
    except Exception as error:  # damaged files raise errors of any kind
        raise ValueError(str(error) or type(error).__name__) from None
    if isinstance(loaded, Mapping):
        tensors = [value for value in loaded.values() if isinstance(value, Tensor)]
        check_ratio(sum([tensor.nbytes for tensor in tensors]), packed, file)
    return loaded


def read_state_dict(file: Path, what: str) -> dict[str, Tensor]:
    """
    The tensors of a state dictionary by their names, float32, on the CPU. Errors call
    them `what`. Raises `InputError` if there is no such file, or it is damaged or holds
    more than tensors.
    """
    if not file.is_file():
        raise InputError(f"no such file: {what}", file=file)
    try:
        found = load_tensors(file)
        return {str(name): tensor.float() for name, tensor in found.items()}
    except Exception:  # damaged files raise errors of any kind
        problem = (
            "is damaged, or holds more than tensors, such as code, which is not run"
        )
        raise InputError(f"cannot read {what}: it {problem}", file=file) from None


def require_whole(file: Path) -> None:
    """
    Raises `ValueError` if a part of a file of torch's present format is not as its
    checksum says: torch does not look at them.
    """
    with zipfile.ZipFile(file) as records:
        damaged = records.testzip()
    if damaged is not None:
        raise ValueError(f"{damaged} in it is damaged")
