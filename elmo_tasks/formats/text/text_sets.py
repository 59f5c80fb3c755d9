"""Whether the text that `elmo-tasks bilm prepare` writes to a folder is complete."""

from collections.abc import Iterable
from pathlib import Path

from elmo_tasks.errors import InputError

BEGUN, SUCCESS = "_prepare.json", "_SUCCESS"
"""
The file that `bilm prepare` writes first, with its settings, and the one it writes
last.
"""


INTERRUPTED = "`elmo-tasks bilm prepare` was interrupted or is still running"


def incomplete_folder(files: Iterable[Path]) -> Path | None:
    """
    The first folder of the files that `bilm prepare` has begun and not finished;
    folders of others are complete.
    """
    folders = dict.fromkeys([file.parent for file in files])
    for folder in folders:
        if (folder / BEGUN).exists() and not (folder / SUCCESS).exists():
            return folder
    return None


def require_complete(files: Iterable[Path]) -> None:
    """Raises `InputError` if one of the files is in a folder that is not complete."""
    folder = incomplete_folder(files)
    if folder is not None:
        raise InputError(
            f"the text is not complete: {INTERRUPTED}",
            file=folder,
            hint="the same command resumes it",
        )
