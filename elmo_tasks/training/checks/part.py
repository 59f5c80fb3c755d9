"""Parts of a config: what constructs one, and what its errors say."""

import copy
import os
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from allennlp.common import Params

from elmo_tasks.errors import InputError, one_line, shown

_OTHERS = (str(Path(__file__).resolve().parents[2]), str(Path(os.__file__).parent))
"""The folders of this package and of Python's own modules."""


def params_of(config: Mapping[str, Any], key: str) -> Params:
    """A copy of the part of a config under a key. Raises `InputError` unless it is an object."""
    part = config.get(key)
    if isinstance(part, str) and part:
        part = {"type": part}
    if not isinstance(part, Mapping):
        raise InputError(
            f"expected an object, or the name of a class, got {shown(part)}"
        )
    return Params({key: copy.deepcopy(part)}).pop(key)


@contextmanager
def constructing(
    key: str, doing: str = "", *, data: str | None = None
) -> Iterator[None]:
    """
    Replaces any error by an `InputError` of one line, which begins with the key of the
    part that is constructed. One in the file `data`, which no key names, stays.
    """
    try:
        yield
    except Exception as error:
        if data is not None and isinstance(error, InputError) and error.file == data:
            raise
        line = in_one_line(error)
        if line.startswith(f"{key}."):  # it names a key itself
            raise InputError(line) from error
        where = f"{key} ({doing})" if doing else key
        raise InputError(f"{where}: {line}") from error


def in_one_line(error: Exception) -> str:
    """What an error says; one that is not meant to be read says where it was raised."""
    line = one_line(error)
    if line is None:
        line = f"{type(error).__name__}: {str(error).strip()}".removesuffix(": ")
        line = " ".join(line.split()) + _own_place(error)
    return line


def _own_place(error: BaseException) -> str:
    """The innermost line of the user's own code that an error has passed through."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        is_installed = "site-packages" in frame.filename
        if not is_installed and not frame.filename.startswith(_OTHERS):
            return f" ({frame.filename}:{frame.lineno})"
    return ""
