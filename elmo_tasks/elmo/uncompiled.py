"""Functions that `torch.compile` leaves alone."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import torch

P = ParamSpec("P")
R = TypeVar("R")


def uncompiled(function: Callable[P, R]) -> Callable[P, R]:
    """
    A function that runs as it is within `torch.compile`, too: a loop over the steps of a packed batch, which would be
    compiled anew for each length of text, and whose products no compiler can read.

    It is `torch.compiler.disable` without the second that this takes to import where nothing is compiled.
    """
    disabled: list[Callable[P, R]] = []

    @wraps(function)
    def run(*arguments: P.args, **keywords: P.kwargs) -> R:
        if not torch.compiler.is_compiling():
            return function(*arguments, **keywords)
        if not disabled:
            disabled.append(torch.compiler.disable(function))
        return disabled[0](*arguments, **keywords)

    return run
