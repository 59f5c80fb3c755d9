"""JSON texts and small files, with one clear error for an invalid one."""

import json
import math
from pathlib import Path
from typing import Any, NoReturn

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.unpacking import require_regular

_MOST_BYTES = 2**20


def read_json(path: str | Path, what: str, *, most_bytes: int = _MOST_BYTES) -> Any:
    """
    The value in a small JSON file. Raises `InputError` if it is no JSON, larger than
    `most_bytes` (1 MB) or cannot be read.
    """
    require_regular(path)
    try:
        size = Path(path).stat().st_size
        if size > most_bytes:
            problem = f"expected {what}, got a file of {size:,} bytes"
            raise InputError(problem, file=path)
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {what}: {error}", file=path) from None
    return parse_json(content, what, file=path)


def parse_json(
    text: str | bytes,
    what: str = "JSON",
    *,
    file: str | Path | None = None,
    line: int | None = None,
) -> Any:
    """
    The value of a JSON text, which errors call `what`. Raises `InputError` if it is
    invalid, with `line` or that of the problem. Invalid are also a key that an object
    has twice, and numbers that JSON cannot express: NaN, Infinity and those that Python
    reads as infinite.
    """
    try:
        return json.loads(
            text,
            object_pairs_hook=_without_repeated_keys,
            parse_constant=_reject,
            parse_float=_finite,
        )
    except (ValueError, RecursionError) as error:  # the second for deep nesting
        reason = str(error)
        if isinstance(error, json.JSONDecodeError):
            reason = f"{error.msg.removesuffix(' at')} at character {error.pos + 1}"
        problem = f"expected {what}, got {shown(text)}: {reason}"
        raise InputError(
            problem, file=file, line=line or getattr(error, "lineno", None)
        ) from None


def require_object(
    value: Any,
    what: str = "a JSON object",
    *,
    file: str | Path | None = None,
    line: int | None = None,
) -> dict[str, Any]:
    """The value, which errors call `what`. Raises `InputError` if it is no object."""
    if not isinstance(value, dict):
        raise InputError(f"expected {what}, got {shown(value)}", file=file, line=line)
    return value


def _without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {shown(key)} stands twice")
        found[key] = value
    return found


def _reject(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a valid number in JSON")


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"the number {shown(number)} is too large")
    return value
