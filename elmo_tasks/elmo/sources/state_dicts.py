"""The weights in a file of `torch.save`, from anywhere, read without running code."""

from pathlib import Path

from torch import Tensor

from elmo_tasks.errors import InputError
from elmo_tasks.formats.tensor_files import load_tensors


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
