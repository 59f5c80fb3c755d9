"""
Settings: type, range, default and meaning of a value stand once, in the annotation of a
field or an argument, and pydantic checks them.

Constructors, functions and dataclasses (`checked`) and options of the command line
(`number`) take these annotations. No value is converted, but NumPy's numbers to
Python's.
"""

import argparse
import functools
import inspect
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    validate_call,
)
from pydantic_core import ErrorDetails

from elmo_tasks.errors import InputError, nearest, shown

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

STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True)


def _integer(value: Any) -> Any:
    """An integer of NumPy as Python's; a flag is no number."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    return value


def _number(value: Any) -> Any:
    """A number of NumPy as Python's."""
    if isinstance(value, Real) and not isinstance(value, bool | int):
        return float(value)
    return value


Integer = Annotated[int, BeforeValidator(_integer)]
Number = Annotated[
    float,
    Field(ge=-LARGEST_FLOAT, le=LARGEST_FLOAT, allow_inf_nan=False),
    BeforeValidator(_number),
]

Size = Annotated[Integer, Field(ge=1, le=LARGEST)]
Count = Annotated[Integer, Field(ge=0, le=LARGEST)]
Width = Annotated[Integer, Field(ge=1, le=WIDEST)]
"""Units of a layer, or the width of vectors."""

Depth = Annotated[Integer, Field(ge=1, le=DEEPEST)]
"""Layers, or copies of a layer."""

Column = Annotated[Integer, Field(ge=-1, le=LARGEST)]
"""The number of a column from 0; -1 is the last one."""

Device = Annotated[Integer, Field(ge=-1, le=LARGEST)]
"""The number of a GPU; -1 is the CPU."""

Seed = Annotated[Integer, Field(ge=0, le=2**32 - 1)]
"""NumPy takes no others."""

Factor = Annotated[Number, Field(ge=0)]
Positive = Annotated[Number, Field(gt=0)]
Share = Annotated[Number, Field(ge=0, le=1)]
Probability = Annotated[Number, Field(ge=0, lt=1)]
"""Of dropout: 1 would leave nothing."""


def _differ(limits: tuple[float, float]) -> tuple[float, float]:
    if limits[0] == limits[1]:
        raise ValueError("a start that is not the end")
    return limits


def _as_list(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


Item = TypeVar("Item")
ListOf = Annotated[list[Item], BeforeValidator(_as_list)]
"""A list, or a tuple, which Python writes as often."""

AsTuple = BeforeValidator(_as_tuple)
"""Of an `Annotated` tuple, which a config writes as a list."""

Limits = Annotated[tuple[Share, Share], AsTuple, AfterValidator(_differ)]
"""The start and end of a part."""

Filled = Field(min_length=1)
"""Of an `Annotated` list or tuple that must not be empty."""


def _no_number(value: Any) -> Any:
    if isinstance(value, Real) and not isinstance(value, bool):
        raise ValueError("no number")
    return value


NoNumber = BeforeValidator(_no_number)
"""Of an `Annotated` literal with `False`, which equals 0 for pydantic."""


def _is_path(path: Any) -> Any:
    text = os.fsdecode(path)
    if not text:
        raise ValueError("a path that is not empty")
    if "\0" in text:
        raise ValueError("a path without NUL characters")
    return path


PathLike = Annotated[Union[str, Path], AfterValidator(_is_path)]
"""
A path, a URL or the name of a model. Empty text is invalid: Python would take it for
the current folder.
"""

_SURROGATE = re.compile("[\ud800-\udfff]")


def _is_text(text: str) -> str:
    if not text.strip():
        raise ValueError("a word")
    if "\0" in text:
        raise ValueError("text without NUL characters")
    if not text.isascii() and _SURROGATE.search(text):
        raise ValueError("valid Unicode")
    return text


Text = Annotated[str, AfterValidator(_is_text)]
"""At least one word, without surrogates and NUL."""


class Wrong(NamedTuple):
    """A setting with an invalid value, and what is expected."""

    key: str
    expected: str
    value: object

    def __str__(self) -> str:
        problem = f"expected {self.expected}, got {shown(self.value)}"
        if self.key == "":
            return problem
        return f"{self.key}: {problem}"


class WrongValues(InputError):
    """The error of invalid values, which lists them all."""

    def __init__(self, problems: list[Wrong], prefix: str = "") -> None:
        super().__init__(prefix + "; ".join(map(str, problems)))
        self.found = problems


def require_none(problems: list[Wrong], prefix: str = "") -> None:
    """Raises `WrongValues` if there are any."""
    if problems:
        raise WrongValues(problems, prefix)


class Settings:
    """
    Base class of `checked` dataclasses. Constructing one raises `InputError`, which
    lists all invalid values, or those that do not go with others.
    """

    def __post_init__(self) -> None:
        require_none(list(self.conflicts()))

    def conflicts(self) -> Iterator[Wrong]:
        """The values that do not go with others."""
        yield from ()

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """From the values that are its fields; others are ignored."""
        known = annotations(cls)
        return cls(**{key: value for key, value in values.items() if key in known})


def wrong_in(cls: type[Settings], values: Mapping[str, Any]) -> list[Wrong]:
    """The invalid values among those of a class."""
    try:
        cls.of(values)
    except WrongValues as error:
        return error.found
    return []


def wrong_values(key: str, annotation: Any, value: Any) -> list[Wrong]:
    """
    What is not of this type: the value, or parts of it, whose key is `key.0` for the
    first one of a list.
    """
    try:
        TypeAdapter(annotation, config=STRICT).validate_python(value)
    except ValidationError as error:
        return _wrong(error, key, value)
    return []


def validated(
    adapter: TypeAdapter,
    value: Any,
    name: str,
    *,
    strict: bool | None = True,
    file: str | Path | None = None,
    line: int | None = None,
) -> Any:
    """
    The value of a file, which errors call `name`, without conversions; with `strict`
    null, as its class says. Raises `InputError` for the first part that is invalid.
    """
    try:
        return adapter.validate_python(value, strict=strict)
    except ValidationError as error:
        problem = str(_wrong(error, name, value)[0])
        raise InputError(problem, file=file, line=line) from None


Function = TypeVar("Function", bound=Callable[..., Any])


def checked(function: Function) -> Function:
    """
    Decorator of functions, constructors and dataclasses: `InputError`, which lists all
    arguments that are not as their annotations say. The signature stays. A class method
    is decorated below `@classmethod`.
    """
    if inspect.isclass(function):
        cls: Any = function
        cls.__init__ = checked(cls.__init__)
        return function

    @functools.wraps(function)
    def arguments(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    @functools.cache
    def pydantic_call() -> Callable[..., Any]:
        return validate_call(config=STRICT)(arguments)

    @functools.wraps(function)
    def construct(*args: Any, **kwargs: Any) -> Any:
        try:
            args, kwargs = pydantic_call()(*args, **kwargs)
        except ValidationError as error:
            prefix = function.__qualname__.removesuffix(".__init__") + ": "
            if args and isinstance(args[0], Settings):
                prefix = ""
            given = _arguments(function, args, kwargs)
            raise WrongValues(_wrong(error, "", given), prefix) from None
        return function(*args, **kwargs)

    return construct  # type: ignore[return-value]


def _arguments(function: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """
    The arguments of a call by their names. Raises `TypeError` as a call does, with the
    names that are most like unknown ones.
    """
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:  # without the function's name, which Python gives
        problem = f"{function.__qualname__}() {error}"
        for name in kwargs:
            near = nearest(name, signature.parameters)
            if near is not None and name not in signature.parameters:
                problem += f"; did you mean {near}?"
        raise TypeError(problem) from None
    return bound.arguments | kwargs


def _wrong(error: ValidationError, key: str, given: Any) -> list[Wrong]:
    """
    What pydantic says of a value with this key, or of the parts of it; of a value that
    is of none of several types, what each of them expects.
    """
    found: dict[str, Wrong] = {}
    for one in error.errors(include_url=False, include_context=False):
        parts = keys_in(given, one["loc"])
        where = ".".join([key, *parts] if key else parts)
        expected = expectation(one)
        if where in found:
            expected = f"{found[where].expected} or {expected}"
        found[where] = Wrong(where, expected, one["input"])
    return list(found.values())


def expectation(error: ErrorDetails) -> str:
    """What pydantic expects in place of an invalid value."""
    if error["type"] == "missing":
        return f"a value for {error['loc'][-1]}"
    if error["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"no argument or key {error['loc'][-1]}"
    if error["type"] in ("dict_type", "model_type", "model_attributes_type"):
        return "an object"
    if error["type"] in ("sequence_str", "tuple_type"):
        return "a valid list"
    text = error["msg"].partition(" after validation")[0].partition(", got ")[0]
    text = text.removeprefix("Value error, ").removeprefix("Input should be ")
    if text.startswith(("greater", "less")):
        return f"a number {text}"
    for verb, instead in ((" should have ", " with "), (" should match ", " of the ")):
        subject, found, rest = text.partition(verb)
        if found:
            return f"a {subject.lower()}{instead}{rest}"
    return text


def keys_in(given: Any, location: tuple[int | str, ...]) -> list[str]:
    """
    The keys that lead to a part of a value. A location of pydantic also has the names
    of types, which are no keys.
    """
    parts: list[str] = []
    for part in location:
        if isinstance(given, Mapping):
            if isinstance(part, int) and not parts:  # of an argument without a name
                part = list(given)[part]
            is_key = part in given
        else:
            is_list = isinstance(given, list | tuple)
            is_key = is_list and isinstance(part, int) and part < len(given)
        if is_key:
            given = given[part]
            parts.append(str(part))
    return parts


def number(annotation: Any) -> Callable[[str], float]:
    """
    The `type` of an option of a command line: an integer or number of an annotation.
    """
    kind = get_args(annotation)[0]

    def read(text: str) -> float:
        try:
            value: Any = kind(text)
        except ValueError:
            value = text
        for wrong in wrong_values("", annotation, value):
            raise argparse.ArgumentTypeError(str(wrong))
        return value

    return read


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


def as_json(value: object) -> str:
    """A value as it stands in a config, without quotes."""
    if isinstance(value, str):
        return value
    return json.dumps(value)
