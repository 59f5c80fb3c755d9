"""Small JSON files on this machine."""

import json
from pathlib import Path
from typing import Any

from elmo_tasks.errors import InputError
from elmo_tasks.formats.unpacking import require_regular

_MOST_BYTES = 2**20


def read_json(path: str | Path, what: str, *, most_bytes: int = _MOST_BYTES) -> Any:
    """
    The value in a small JSON file. Raises `InputError` if it is no JSON, larger than
    `most_bytes` (1 MB) or cannot be read.
    """
    try:
        require_regular(path)
        size = Path(path).stat().st_size
        if size > most_bytes:
            problem = f"expected {what}, got a file of {size:,} bytes"
            raise InputError(problem, file=path)
        text = Path(path).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {what}: {error}", file=path) from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        # Also raised for numbers of thousands of digits, and for deep brackets.
        problem = getattr(error, "msg", str(error))
        line = getattr(error, "lineno", None)
        raise InputError(f"not JSON: {problem}", file=path, line=line) from None
