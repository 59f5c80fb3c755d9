"""The sizes of the tensors that code makes, on any system."""

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Largest(TorchDispatchMode):
    """In `bytes`, the size of the largest tensor that was made within it."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        found = func(*args, **(kwargs or {}))
        for output in found if isinstance(found, tuple | list) else [found]:
            if isinstance(output, torch.Tensor):
                self.bytes = max(self.bytes, output.nbytes)
        return found
