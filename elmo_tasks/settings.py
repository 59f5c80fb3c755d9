"""Settings: type, range, default and meaning of a value stand once, in the annotation of a field or an argument."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from math import inf
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Self,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from elmo_tasks.errors import InputError, shown


@dataclass(frozen=True)
class Range:
    """The valid numbers of an `Annotated` type."""

    at_least: float = -inf
    above: float = -inf
    below: float = inf

    def __contains__(self, value: Any) -> bool:
        return self.at_least <= value and self.above < value < self.below

    def __str__(self) -> str:
        named = (
            ("of at least", self.at_least, -inf),
            ("above", self.above, -inf),
            ("below", self.below, inf),
        )
        return " and ".join(
            f"{word} {limit}" for word, limit, none in named if limit != none
        )


Size = Annotated[int, Range(at_least=1)]
Factor = Annotated[float, Range(at_least=0)]
Positive = Annotated[float, Range(above=0)]
Probability = Annotated[float, Range(at_least=0, below=1)]
"""Of dropout: 1 would leave nothing."""

PathLike = Union[str, Path]

NAMES = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a string",
    NoneType: "null",
    Path: "a path",
}


class Wrong(NamedTuple):
    """A setting with an invalid value, and what is expected."""

    key: str
    expected: str
    value: object

    def __str__(self) -> str:
        return f"{self.key}: expected {self.expected}, got {shown(self.value)}"


class Settings:
    """
    Base class of frozen dataclasses whose fields are annotated with `Annotated[type, Range or check, "meaning"]`. A
    check is a function that returns what is expected, or `None` for a valid value. Constructing one raises
    `InputError`, which lists all invalid values.
    """

    def __post_init__(self) -> None:
        require_none(wrong_in(type(self), vars(self)))

    def conflicts(self) -> Iterator[Wrong]:
        """The values that do not go with others."""
        yield from ()

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """From the values that are its fields; others are ignored."""
        return cls(
            **{key: value for key, value in values.items() if key in annotations(cls)}
        )


def wrong_in(cls: type[Settings], values: Mapping[str, Any]) -> list[Wrong]:
    """The invalid values among those of a class; of the valid ones, those that do not go with others."""
    tested = {
        key: expected(kind, values[key])
        for key, kind in annotations(cls).items()
        if key in values
    }
    found = [
        Wrong(key, problem, values[key]) for key, problem in tested.items() if problem
    ]
    valid = object.__new__(cls)
    for field in fields(cls):  # type: ignore[arg-type]
        value = (
            field.default
            if tested.get(field.name)
            else values.get(field.name, field.default)
        )
        object.__setattr__(valid, field.name, value)
    return found + [wrong for wrong in valid.conflicts() if not tested.get(wrong.key)]


def require_none(found: list[Wrong], prefix: str = "") -> None:
    """Raises `InputError` that lists the invalid values, if there are any."""
    if found:
        raise InputError(prefix + "; ".join(map(str, found)))


def annotations(cls: type) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


def meaning(annotation: Any) -> str:
    """The text among the parts of an `Annotated` type."""
    return next(
        (part for part in get_args(annotation)[1:] if isinstance(part, str)), ""
    )


def choices(annotation: Any) -> tuple[Any, ...] | None:
    """The values of a `Literal`; `None` for other types."""
    inner = (
        get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    )
    return get_args(inner) if get_origin(inner) is Literal else None


def expected(annotation: Any, value: Any) -> str | None:
    """What a value should be, if it is not of this type or out of its range; `None` also for types of objects."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        kind, *parts = arguments
        return expected(kind, value) or next(
            filter(None, (_outside(part, value, kind) for part in parts)), None
        )
    if origin is Literal:
        fits = any(value == one and type(value) is type(one) for one in arguments)
        return None if fits else f"one of {', '.join(map(as_json, arguments))}"
    if origin in (Union, UnionType):
        found = [expected(one, value) for one in arguments]
        return " or ".join(dict.fromkeys(filter(None, found))) if all(found) else None
    if origin is list and isinstance(value, list | tuple):
        return next(
            filter(None, (expected(arguments[0], part) for part in value)), None
        )
    if annotation is Path:
        return None if isinstance(value, os.PathLike) else NAMES[Path]
    if annotation not in NAMES:
        return None
    kind = {int: Integral, float: Real}.get(annotation, annotation)
    fits = isinstance(value, kind) and (
        annotation is bool or not isinstance(value, bool)
    )
    return None if fits else NAMES[annotation]


def _outside(part: Any, value: Any, kind: Any) -> str | None:
    """What a part of an `Annotated` type expects, if the value is another."""
    if isinstance(part, Range):
        return (
            f"{NAMES[kind]} {part}"
            if isinstance(value, Real) and value not in part
            else None
        )
    return part(value) if callable(part) else None


def as_json(value: object) -> str:
    """A value as it stands in a config, without quotes."""
    return value if isinstance(value, str) else json.dumps(value)
