"""Gradients that are written by hand have no gradient themselves."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch


def first_derivative_only(backward: Callable[..., Any]) -> Callable[..., Any]:
    """
    Decorator of the `backward` of a `torch.autograd.Function` whose operators cannot be
    differentiated. Raises `RuntimeError` with `create_graph=True`. Torch's own
    `once_differentiable` raises only if the incoming gradients have a gradient, and
    gives a wrong second derivative otherwise, as after a sum.
    """

    @wraps(backward)
    def first(ctx: Any, *gradients: Any) -> Any:
        if torch.is_grad_enabled():
            raise RuntimeError(
                f"{backward.__qualname__} has no second derivative: expected a backward"
                " pass without create_graph=True"
            )
        return backward(ctx, *gradients)

    return first
