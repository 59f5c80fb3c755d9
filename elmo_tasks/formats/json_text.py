"""The value of a JSON text, with one clear error for an invalid one."""

import json
import math
from pathlib import Path
from typing import Any, NoReturn

from elmo_tasks.errors import InputError, shown


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
    cannot express: NaN, Infinity and those that Python reads as infinite.
    """
    try:
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
