"""Constructor annotations written the new way, for AllenNLP's construction from configs."""

import functools
from collections.abc import Callable
from types import UnionType
from typing import Any, Union

from allennlp.common import from_params

READERS = ("remove_optional", "can_construct_from_params", "construct_arg")
"""AllenNLP's functions that look into an annotation; the last calls itself for its parts."""


def old_style(annotation: Any) -> Any:
    """`X | Y` as `typing.Union[X, Y]`, anything else as it is; what X and Y hold is left alone."""
    if isinstance(annotation, UnionType):
        return Union[annotation.__args__]  # noqa: UP007 (AllenNLP knows this type alone)
    return annotation


def reading_old_style(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, which gets no `types.UnionType` for an argument any more."""

    @functools.wraps(function)
    def wrapper(*arguments: Any, **options: Any) -> Any:
        return function(*(old_style(argument) for argument in arguments), **options)

    vars(wrapper)["reads_old_style"] = True
    return wrapper


def read_new_style_unions() -> None:
    """
    Lets AllenNLP construct arguments annotated `X | None`.

    `FromParams` compares an annotation's origin with `typing.Union`; on Python 3.11 to 3.13
    `X | None` is a `types.UnionType`, so that the argument is handed over as the raw dictionary of
    the config, without an error. It can go with Python 3.14, where both are one type. Annotations
    that are strings (`from __future__ import annotations`) stay unsupported, as AllenNLP has it.
    """
    for name in READERS:
        function = getattr(from_params, name)
        if not hasattr(function, "reads_old_style"):
            setattr(from_params, name, reading_old_style(function))
