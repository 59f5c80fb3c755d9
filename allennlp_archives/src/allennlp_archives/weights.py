"""
Weights that older versions of transformers have saved: with constants that are no part
of a model's state any more, so that loading them is an error.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

_POSITIONS = re.compile(r"(.*\.)?position_ids")
_TOKEN_TYPES = re.compile(r"(.*\.)?embeddings\.token_type_ids")
_CAUSAL_MASK = re.compile(r"(.*\.)?attn\.bias")
_MASKED = re.compile(r"(.*\.)?attn\.masked_bias")
_MASKED_SCORE = -1e4
_MOST_NUMBERS = 2**24  # of a constant; a file can claim any size


def without_constants(state: Mapping[str, Any]) -> dict[str, Any]:
    """
    The state without the constants of transformers: each has a known name, and the one
    value that the new versions compute. Another value stays, and is an error when the
    state is loaded.
    """
    kept = {}
    for name, value in state.items():
        if not (isinstance(value, Tensor) and _is_constant(name, value)):
            kept[name] = value
    return kept


def write_state(state: Mapping[str, Any], file: Path) -> None:
    """Writes a state to a new file, or in the place of a link."""
    file.unlink(missing_ok=True)
    torch.save(dict(state), file)


def _is_constant(name: str, value: Tensor) -> bool:
    if value.numel() > _MOST_NUMBERS:
        return False
    expected = _expected(name, value)
    if expected is None:
        return False
    return torch.equal(value.float(), expected.expand_as(value).float())


def _expected(name: str, value: Tensor) -> Tensor | None:
    """
    What a tensor of this name is, if it is a constant; `None` if it is not one.
    """
    is_integer = not value.is_floating_point()
    if _POSITIONS.fullmatch(name) and is_integer and value.dim() == 2:
        return torch.arange(value.shape[1])
    if _TOKEN_TYPES.fullmatch(name) and is_integer:
        return torch.zeros(1)
    # GPT-2's: an attention's bias of parameters has one axis.
    if _CAUSAL_MASK.fullmatch(name) and value.dim() == 4:
        return torch.ones(value.shape[-2:]).tril()
    if _MASKED.fullmatch(name) and value.dim() == 0:
        return torch.tensor(_MASKED_SCORE)
    return None
