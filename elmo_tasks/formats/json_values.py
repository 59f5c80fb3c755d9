"""
Values of JSON, of files and of requests, checked by pydantic, with one clear error for
each invalid one.
"""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from elmo_tasks import settings
from elmo_tasks.errors import InputError, shown

_SURROGATE = re.compile("[\ud800-\udfff]")


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
