"""
Number types: matrix products may have reduced precision, losses and decoding need
float32.
"""

import torch
from torch import Tensor


def at_least_float32(tensor: Tensor) -> Tensor:
    """The tensor in float32 if its type is float16 or bfloat16, else unchanged."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def product_type(inputs: Tensor) -> torch.dtype:
    """
    The data type of matrix products with these inputs: the type of `torch.autocast` if
    it is enabled, else the type of the inputs.
    """
    device = inputs.device.type
    if torch.is_autocast_enabled(device):
        return torch.get_autocast_dtype(device)
    return inputs.dtype
