"""
Settings: type, range, default and meaning of a value stand once, in the annotation of a
field or an argument.

Constructors (`checked`), dataclasses (`Settings`) and options of the command line
(`number`) take these annotations.
"""

import argparse
import errno
import functools
import inspect
import json
import os
from collections.abc import Callable, Iterator, Mapping
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
    TypeVar,
    Union,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

from elmo_tasks.errors import InputError, shown

LARGEST = 2**31 - 1
"""
The largest integer that all of PyTorch, NumPy and the C libraries below them take.
"""

LARGEST_FLOAT = 3e38
"""Numbers above do not fit into float32."""

WIDEST = 1_000_000
"""Units of the widest layer: a larger one fits into no memory."""

DEEPEST = 100
"""Layers of a module: one takes memory and time however narrow it is."""


@dataclass(frozen=True)
class Range:
    """The valid numbers of an `Annotated` type; never NaN or infinity."""

    at_least: float = -inf
    above: float = -inf
    below: float = inf
    at_most: float = LARGEST_FLOAT

    def __contains__(self, value: Any) -> bool:
        is_above = self.at_least <= value and self.above < value
        is_below = value < self.below and value <= self.at_most
        return is_above and is_below and abs(value) <= LARGEST_FLOAT

    def __str__(self) -> str:
        return self.described()

    def described(self, value: Any = None) -> str:
        """
        The limits in words; one that only keeps numbers computable if the value is
        above it.
        """
        most = self.at_most
        is_number = isinstance(value, int | float)
        is_beyond = is_number and value > most and self.below == inf
        if most in (WIDEST, LARGEST, LARGEST_FLOAT) and not is_beyond:
            most = inf
        if self.at_least != -inf and most != inf:
            return f"from {self.at_least} to {most}"
        stated = []
        if self.at_least != -inf:
            stated.append(f"of at least {self.at_least}")
        if self.above != -inf:
            stated.append(f"above {self.above}")
        if self.below != inf:
            stated.append(f"below {self.below}")
        if most != inf:
            stated.append(f"up to {most}")
        return " and ".join(stated) or "that is finite"


Size = Annotated[int, Range(at_least=1, at_most=LARGEST)]
Count = Annotated[int, Range(at_least=0, at_most=LARGEST)]
Width = Annotated[int, Range(at_least=1, at_most=WIDEST)]
"""Units of a layer, or the width of vectors."""

Depth = Annotated[int, Range(at_least=1, at_most=DEEPEST)]
"""Layers, or copies of a layer."""

Padding = Annotated[int, Range(at_least=0, at_most=WIDEST)]
"""The shortest length to which a sequence is padded; 0 for its own."""

Column = Annotated[int, Range(at_least=-1, at_most=LARGEST)]
"""The number of a column from 0; -1 is the last one."""

Device = Annotated[int, Range(at_least=-1, at_most=LARGEST)]
"""The number of a GPU; -1 is the CPU."""

Seed = Annotated[int, Range(at_least=0, at_most=2**32 - 1)]
"""NumPy takes no others."""

Number = Annotated[float, Range()]
Factor = Annotated[float, Range(at_least=0)]
Positive = Annotated[float, Range(above=0)]
Share = Annotated[float, Range(at_least=0, at_most=1)]


def _differ(limits: Any) -> str | None:
    if limits[0] == limits[1]:
        return "a start that is not the end"
    return None


Limits = Annotated[tuple[Share, Share], _differ]
"""The start and end of a part."""
Probability = Annotated[float, Range(at_least=0, below=1)]
"""Of dropout: 1 would leave nothing."""


def _wanted_path(path: Any) -> str | None:
    text = os.fsdecode(path)
    if not text:
        return "a path that is not empty"
    if "\0" in text:
        return "a path without NUL characters"
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return "a path that this system can write"
    if "://" in text:
        return None
    try:
        os.lstat(text)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return "a path whose names are not too long for this system"
    return None


PathLike = Annotated[Union[str, Path], _wanted_path]
"""
A path, a URL or the name of a model. Empty text is invalid: Python would take it for
the current folder.
"""


def _has_a_word(text: str) -> str | None:
    words = "".join(text.split())
    if words and words.isprintable():
        return None
    return "printable text with a word"


Text = Annotated[str, _has_a_word]

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
    Base class of frozen dataclasses whose fields are annotated with `Annotated[type,
    Range or check, "meaning"]`. A check is a function that returns what is expected, or
    `None` for a valid value. Constructing one raises `InputError`, which lists all
    invalid values.
    """

    def __post_init__(self) -> None:
        require_none(wrong_in(type(self), vars(self)))

    def conflicts(self) -> Iterator[Wrong]:
        """The values that do not go with others."""
        yield from ()

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """From the values that are its fields; others are ignored."""
        known = annotations(cls)
        own = {key: value for key, value in values.items() if key in known}
        return cls(**own)


def wrong_in(cls: type[Settings], values: Mapping[str, Any]) -> list[Wrong]:
    """
    The invalid values among those of a class; of the valid ones, those that do not go
    with others.
    """
    problems: list[Wrong] = []
    invalid = set()
    for key, annotation in annotations(cls).items():
        if key not in values:
            continue
        wrong = wrong_values(key, annotation, values[key])
        if wrong:
            problems += wrong
            invalid.add(key)
    valid = object.__new__(cls)
    for field in fields(cls):  # type: ignore[arg-type]
        value = field.default
        if field.name not in invalid:
            value = values.get(field.name, field.default)
        object.__setattr__(valid, field.name, value)
    for conflict in valid.conflicts():
        if conflict.key not in invalid:
            problems.append(conflict)
    return problems


class WrongValues(InputError):
    """The error of invalid values, which lists them all."""

    def __init__(self, problems: list[Wrong], prefix: str = "") -> None:
        super().__init__(prefix + "; ".join(map(str, problems)))
        self.found = problems


def require_none(problems: list[Wrong], prefix: str = "") -> None:
    """Raises `WrongValues` if there are any."""
    if problems:
        raise WrongValues(problems, prefix)


def annotations(cls: type) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


def meaning(annotation: Any) -> str:
    """The text among the parts of an `Annotated` type."""
    if get_origin(annotation) is not Annotated:
        return ""
    for part in get_args(annotation)[1:]:
        if isinstance(part, str):
            return part
    return ""


def choices(annotation: Any) -> tuple[Any, ...] | None:
    """The values of a `Literal`; `None` for other types."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return None


def expected(annotation: Any, value: Any) -> str | None:
    """
    What a value, or the first invalid part of it, should be; `None` if it is valid.
    """
    found = wrong_values("", annotation, value)
    if not found:
        return None
    return found[0].expected


def has_range(annotation: Any) -> bool:
    """Whether a type, or a part of it, is `Annotated` with a range or a check."""
    if get_origin(annotation) is Annotated:
        for part in get_args(annotation)[1:]:
            if isinstance(part, Range) or callable(part):
                return True
    return any(map(has_range, get_args(annotation)))


def wrong_values(key: str, annotation: Any, value: Any) -> list[Wrong]:
    """
    What is not of this type or out of its range: the value, or parts of it, whose key
    is `key.0` for the first one of a list. Objects are not checked.
    """
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is Annotated:
        return _outside_range(key, arguments[0], arguments[1:], value)
    if origin is Literal:
        for choice in arguments:
            if type(value) is type(choice) and value == choice:
                return []
        return [Wrong(key, f"one of {', '.join(map(as_json, arguments))}", value)]
    if origin in (Union, UnionType):
        return _outside_all(key, arguments, value)
    if origin in _CONTAINERS:
        return _wrong_parts(key, origin, arguments, value)
    if annotation not in NAMES or _is_of(annotation, value):
        return []
    return [Wrong(key, NAMES[annotation], value)]


def _is_of(kind: type, value: Any) -> bool:
    """Whether a value is of one of the types in `NAMES`; a flag is no number."""
    if kind is Path:
        return isinstance(value, os.PathLike)
    if kind in _NUMBERS:
        return isinstance(value, _NUMBERS[kind]) and not isinstance(value, bool)
    return isinstance(value, kind)


_NUMBERS: dict[type, Any] = {int: Integral, float: Real}
"""Also those of NumPy."""


def _outside_range(
    key: str, kind: Any, parts: tuple[Any, ...], value: Any
) -> list[Wrong]:
    """
    What is wrong with a value of an `Annotated` type with these parts: its type, its
    range, or what checks say.
    """
    found = wrong_values(key, kind, value)
    for part in parts:
        if isinstance(part, Range) and (found or value not in part):
            return [Wrong(key, f"{NAMES[kind]} {part.described(value)}", value)]
        if callable(part) and not found:
            found = _checked_by(key, part, value)
    return found


_CONTAINERS: dict[Any, tuple[Any, str]] = {
    dict: (Mapping, "an object"),
    list: (list | tuple, "a list"),
    tuple: (list | tuple, "a list"),
}
"""The types of values that fit, and what they are called."""


def _wrong_parts(
    key: str, origin: Any, arguments: tuple[Any, ...], value: Any
) -> list[Wrong]:
    """The invalid parts of a dictionary, list or tuple; or the value, if it is none."""
    kind, name = _CONTAINERS[origin]
    if not isinstance(value, kind):
        return [Wrong(key, name, value)]
    if origin is dict:
        types = [arguments[-1]] * len(value)
        parts = list(value.items())
    else:
        types = list(arguments)
        parts = list(enumerate(value))
        if origin is list or arguments[-1] is ...:
            types = [arguments[0]] * len(value)
    if len(value) != len(types):
        return [Wrong(key, f"a list of {len(types)} values", value)]
    problems = []
    for (part, one), annotation in zip(parts, types, strict=True):
        problems += wrong_values(_below(key, part), annotation, one)
    return problems


def _outside_all(key: str, kinds: tuple[Any, ...], value: Any) -> list[Wrong]:
    """
    The problems of a value that fits none of these types: those of the type that fits
    best.
    """
    found = [wrong_values(key, kind, value) for kind in kinds]
    if not all(found):
        return []
    for wrong in found:
        if wrong[0].key != key:  # of the right kind, with invalid parts
            return wrong
    texts = dict.fromkeys([wrong[0].expected for wrong in found])
    return [Wrong(key, " or ".join(texts), value)]


def _checked_by(key: str, check: Callable[[Any], Any], value: Any) -> list[Wrong]:
    """What the check of an `Annotated` type expects, if the value is another."""
    wanted = check(value)
    if isinstance(wanted, list):  # of the parts of the value
        return [one._replace(key=_below(key, one.key)) for one in wanted]
    if wanted is None:
        return []
    return [Wrong(key, wanted, value)]


def _below(key: str, part: object) -> str:
    """The key of a part, `key.part`; either can be empty."""
    if key == "":
        return str(part)
    if part == "":
        return key
    return f"{key}.{part}"


def not_empty(values: Any) -> str | None:
    """The check of an `Annotated` list or text that must not be empty."""
    if len(values) == 0:
        return "at least one value"
    return None


Function = TypeVar("Function", bound=Callable[..., Any])


def checked(function: Function) -> Function:
    """
    Decorator of constructors: `InputError`, which lists all arguments that are not as
    their annotations say, also those of `**options: Unpack[...]` with a `TypedDict`.
    The signature stays. A class method is decorated below `@classmethod`.
    """

    @functools.wraps(function)
    def construct(*args: Any, **kwargs: Any) -> Any:
        signature = _signature(function)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:  # without the function's name, which Python gives
            raise TypeError(f"{function.__qualname__}() {error}") from None
        problems = []
        for key, value in bound.arguments.items():
            parameter = signature.parameters[key]
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                problems += _wrong_options(function, parameter.annotation, value)
            elif parameter.kind is not inspect.Parameter.VAR_POSITIONAL:
                problems += wrong_values(key, parameter.annotation, value)
        name = function.__qualname__.removesuffix(".__init__")
        require_none(problems, f"{name}: ")
        return function(*args, **kwargs)

    return construct  # type: ignore[return-value]


def _wrong_options(
    function: Callable[..., Any], annotation: Any, options: Mapping[str, Any]
) -> list[Wrong]:
    """
    The invalid values of a function's `**options: Unpack[...]`; other options are not
    checked. Raises `TypeError` for an unknown key, as Python does.
    """
    if get_origin(annotation) is not Unpack:
        return []
    known = annotations(get_args(annotation)[0])
    found = []
    for key, value in options.items():
        if key not in known:
            problem = f"got an unexpected keyword argument {key!r}"
            raise TypeError(f"{function.__qualname__}() {problem}")
        found += wrong_values(key, known[key], value)
    return found


@functools.cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function, eval_str=True)


def number(annotation: Any) -> Callable[[str], float]:
    """
    The `type` of an option of a command line: an integer or number in the range of an
    annotation.
    """
    kind = get_args(annotation)[0]

    def read(text: str) -> float:
        try:
            value: Any = kind(text)
        except ValueError:
            value = text
        wanted = expected(annotation, value)
        if wanted is not None:
            raise argparse.ArgumentTypeError(f"expected {wanted}, got {shown(value)}")
        return value

    return read


def as_json(value: object) -> str:
    """A value as it stands in a config, without quotes."""
    if isinstance(value, str):
        return value
    return json.dumps(value)
