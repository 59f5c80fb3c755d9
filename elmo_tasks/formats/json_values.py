"""
JSON and its values, of files and of requests, with one clear error for each invalid
one.
"""

import json
import math
import re
from pathlib import Path
from typing import Annotated, Any, NoReturn

from pydantic import AfterValidator, FailFast, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from elmo_tasks import settings
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
    The value of a JSON text, which errors call `what`. Raises `InputError` if it is
    invalid, with `line` or that of the problem. Invalid are also numbers that JSON
    cannot express, NaN, Infinity and those that Python reads as infinite, and a text of
    which more than a tenth are brackets: lists take twenty times the memory.
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
    raise ValueError(f"{constant} is not a valid number in JSON")


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"the number {shown(number)} is too large")
    return value


def is_text(value: str) -> str | None:
    """
    The check of an `Annotated` string with a word, and without surrogates and NUL.
    """
    if not value.strip():
        return "a word"
    if "\0" in value:
        return "text without NUL characters"
    if not value.isascii() and _SURROGATE.search(value):
        return "valid Unicode"
    return None


def valid(annotation: Any) -> AfterValidator:
    """
    For an `Annotated` type that pydantic reads: the checks of `settings` that another
    annotation has, with the same errors.
    """

    def validated(value: Any) -> Any:
        wanted = settings.expected(annotation, value)
        if wanted is not None:
            raise PydanticCustomError("setting", "expected {it}", {"it": wanted})
        return value

    return AfterValidator(validated)


Text = Annotated[str, valid(Annotated[str, is_text])]

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
    Validates a value, which error messages call `name`, in pydantic's strict mode.
    Raises `InputError` with the path of the first invalid value.
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
        problem = f"{name}{path}: {expected(first)}, got {shown(first['input'])}"
        raise InputError(problem, file=file, line=line) from None


def expected(error: ErrorDetails) -> str:
    """
    What pydantic expects in place of an invalid value, as our own messages say it.
    """
    if error["type"] == "too_short":
        return "expected a list that is not empty"
    if error["type"] in ("model_type", "model_attributes_type"):
        return "expected an object"
    text = error["msg"].partition(" or instance")[0]
    text = text.removeprefix("Value error, ")
    text = text.replace("Input should be", "expected")
    return text.replace("Field required", "missing")


def words_of(words: Any, name: str) -> list[str]:
    """A list of `Text` that is not empty, which error messages call `name`."""
    return validate(WORDS, words, name)
