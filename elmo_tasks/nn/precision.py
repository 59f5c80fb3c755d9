"""
Losses and decoding need float32, where matrix products have a reduced precision.
"""

import torch
from torch import Tensor


def at_least_float32(tensor: Tensor) -> Tensor:
    """The tensor in float32 if its type is float16 or bfloat16, else unchanged."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))
