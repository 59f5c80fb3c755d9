"""What `--force` would delete: neither the current folder nor a file that the training reads."""

import os
from collections.abc import Iterable
from pathlib import Path

from elmo_tasks.errors import InputError

HINT = "give -s another folder, or delete what is not needed yourself"


def require_replaceable(folder: str | os.PathLike[str], read: Iterable[str | os.PathLike[str]] = ()) -> None:
    """
    Checks a folder before `--force` deletes it.

    # Parameters

    folder : `str` or `PathLike`
        The serialization folder.
    read : `Iterable[str | PathLike]`
        Files and folders that the training reads.

    # Raises

    `InputError`
        if the folder is a symbolic link or holds the current folder or one of the files in `read`.
    """
    target = Path(folder)
    if not target.is_dir():
        return
    if target.is_symlink():
        raise InputError("--force cannot delete a symbolic link", file=target, hint="give -s the folder itself")
    if _is_in(Path.cwd(), target):
        raise InputError("--force would delete the current folder", file=target, hint="give -s another folder")
    for file in map(Path, read):
        if file.exists() and _is_in(file, target):
            raise InputError(f"--force would delete {file}, which the training reads", file=target, hint=HINT)


def _is_in(file: Path, folder: Path) -> bool:
    """Whether a file is a folder or lies in it, by its name or by what links lead to."""
    real = folder.resolve()
    return file.resolve().is_relative_to(real) or Path(os.path.abspath(file)).is_relative_to(os.path.abspath(folder))
