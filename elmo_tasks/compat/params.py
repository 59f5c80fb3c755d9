"""Patches of `allennlp.common.params` and `allennlp.common.from_params`, and the differences between two configs."""

import functools
from collections.abc import Callable
from types import UnionType
from typing import Any, Union

from allennlp.common import from_params


def read_new_style_unions() -> None:
    """
    Lets AllenNLP construct arguments annotated `X | None`.

    `FromParams` compares an annotation's origin with `typing.Union`, but before Python 3.14 `X | None` is a
    `types.UnionType`: the argument is passed as the raw dictionary of the config. The patch can go with Python 3.14.
    Annotations that are strings (`from __future__ import annotations`) are not supported by AllenNLP.
    """
    for name in ("remove_optional", "can_construct_from_params", "construct_arg"):
        setattr(from_params, name, _reading_unions(getattr(from_params, name)))


def _reading_unions(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*arguments: Any, **options: Any) -> Any:
        old_style = [
            Union[argument.__args__] if isinstance(argument, UnionType) else argument  # noqa: UP007
            for argument in arguments
        ]
        return function(*old_style, **options)

    return wrapper
