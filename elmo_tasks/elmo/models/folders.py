"""Which files of a folder a model consists of, and their digest."""

import hashlib
from pathlib import Path

from elmo_tasks.elmo.sources.types import SOURCES
from elmo_tasks.system.files import file_sha256


def model_files(kind: str, folder: Path) -> dict[str, Path]:
    """
    The files of a model of one folder, by their names in it, sorted: what is read, has
    a part in the digest, and is copied. Raises `InputError` if one is missing.
    """
    found = {}
    for path in SOURCES[kind].read(folder):
        found[path.relative_to(folder).as_posix()] = path
    return dict(sorted(found.items()))


def path_sha256(kind: str, path: Path) -> str:
    """The digest of a file, or of the names and contents of a folder's files."""
    if not path.is_dir():
        return file_sha256(path)
    digest = hashlib.sha256()
    for name, file in model_files(kind, path).items():
        digest.update(f"{file_sha256(file)}  {name}\n".encode())
    return digest.hexdigest()
