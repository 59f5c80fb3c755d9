"""Parts of a config: what constructs one, and what its errors say."""

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from allennlp.common import Params

from elmo_tasks.errors import InputError, in_one_line, shown


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
