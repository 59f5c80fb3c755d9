"""Exclude functions from `torch.compile`."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import torch

P = ParamSpec("P")
R = TypeVar("R")


def no_compile(function: Callable[P, R]) -> Callable[P, R]:
    """
    Exclude a function from `torch.compile`: a loop over the steps of a packed batch, which would be compiled again for
    each length of text and whose custom operators no compiler can read.

    This is `torch.compiler.disable` without the second that it takes to import where nothing is compiled.
    """
    disabled: list[Callable[P, R]] = []

    @wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        if not torch.compiler.is_compiling():
            return function(*args, **kwargs)
        if not disabled:
            disabled.append(torch.compiler.disable(function))
        return disabled[0](*args, **kwargs)

    return wrapper
