"""JSON and its values, of files and of requests, with one clear error for each invalid one."""

import json
import math
import re
from pathlib import Path
from typing import Annotated, Any, NoReturn

from pydantic import AfterValidator, FailFast, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from elmo_tasks.errors import InputError, shown

_MOST_BRACKETS = 10_000
_SURROGATE = re.compile("[\ud800-\udfff]")


def parse_json(
    text: str,
    what: str = "JSON",
    *,
    file: str | Path | None = None,
    line: int | None = None,
) -> Any:
    """
    The value of a JSON text, which errors call `what`. Raises `InputError` if it is invalid, with `line` or that of the
    problem. Invalid are also numbers that JSON cannot express, NaN, Infinity and those that Python reads as infinite,
    and a text of which more than a tenth are brackets: lists take twenty times the memory.
    """
    try:
        if text.count("[") + text.count("{") > _MOST_BRACKETS + len(text) // 10:
            raise ValueError("more than a tenth of it are brackets")
        return json.loads(text, parse_constant=_reject, parse_float=_finite)
    except (ValueError, RecursionError) as error:  # the second for deep nesting
        reason = str(error)
        if isinstance(error, json.JSONDecodeError):
            reason = f"{error.msg.removesuffix(' at')} at character {error.pos + 1}"
        problem = f"expected {what}, got {shown(text)}: {reason}"
        raise InputError(
            problem, file=file, line=line or getattr(error, "lineno", None)
        ) from None


def _reject(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number of JSON")


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{shown(number)} is too large a number")
    return value


def _check_text(value: str) -> str:
    if not value.strip():
        raise PydanticCustomError("blank", "expected a word")
    if "\0" in value:
        raise PydanticCustomError("binary", "expected text without NUL characters")
    if not value.isascii() and _SURROGATE.search(value):
        raise PydanticCustomError("surrogate", "expected valid Unicode")
    return value


Text = Annotated[str, AfterValidator(_check_text)]
"""A string with a word, and without surrogates and NUL, for pydantic."""

TEXT = TypeAdapter(Text)
WORDS = TypeAdapter(Annotated[list[Text], FailFast(), Field(min_length=1)])


def validate(
    adapter: TypeAdapter,
    value: Any,
    name: str,
    *,
    file: str | Path | None = None,
    line: int | None = None,
) -> Any:
    """
    Validates a value, which error messages call `name`, in pydantic's strict mode. Raises `InputError` with the path of
    the first invalid value.
    """
    try:
        return adapter.validate_python(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = ""
        for key in first["loc"]:
            if isinstance(key, int):
                path += f"[{key}]"
            else:
                path += f".{key}"
        text = first["msg"].partition(" or instance")[0]
        problem = text.replace("Input should be", "expected")
        problem = problem.replace("Field required", "missing")
        if first["type"] == "too_short":
            problem = f"expected at least {first['ctx']['min_length']}"
        raise InputError(
            f"{name}{path}: {problem}, got {shown(first['input'])}",
            file=file,
            line=line,
        ) from None


def words_of(words: Any, name: str) -> list[str]:
    """A list of `Text` that is not empty, which error messages call `name`."""
    return validate(WORDS, words, name)
