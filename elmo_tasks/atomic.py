"""Files that are whole or absent: written aside, flushed, renamed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from elmo_tasks.errors import InputError


@contextmanager
def written_aside(path: str | Path) -> Iterator[Path]:
    """
    Give a temporary path beside `path`; rename it to `path` when the block ends well, remove it otherwise.

    # Raises

    `InputError` where the folder cannot be written or the disk is full; `path` is then as it was.
    """
    target = Path(path)
    aside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield aside
        with aside.open("rb") as file:
            os.fsync(file.fileno())
        aside.replace(target)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", file=target) from error
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
