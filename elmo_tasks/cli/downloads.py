"""Files of `formats.corpora` from the web: resumed, verified, unpacked to their place below the data root."""

import hashlib
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from elmo_tasks.errors import InputError
from elmo_tasks.files import atomic_write
from elmo_tasks.formats.corpora import DataFile, Download
from elmo_tasks.formats.unpacking import bound, unpack


def fetch(source: Download, files: Sequence[DataFile], root: Path) -> None:
    """
    Downloads the source of some files to `root/downloads`, and puts the files in their places. Raises `InputError` if
    the download fails, or does not have the expected size or sha256; what has been downloaded
    stays, and the next call resumes.
    """
    target = root / "downloads" / PurePosixPath(source.url).name
    target.parent.mkdir(exist_ok=True)
    if not target.exists():
        part = target.with_name(f"{target.name}.part")
        _download(source, part)
        part.rename(target)
    if target.suffix == ".zip":
        _unzip(target, files, root)
    elif target.name.endswith(".tar.gz"):
        names = [name.removeprefix("lm/") for file in files for name in file.official if name.startswith("lm/")]
        unpack(target, root / "lm", names, file=target)
    else:
        _copy(target.open("rb"), root / files[0].name)


def _download(source: Download, part: Path) -> None:
    """Appends to `part` what is missing of it, and verifies it."""
    from huggingface_hub.file_download import http_get

    begin = part.stat().st_size if part.exists() else 0
    try:
        with part.open("ab") as out:
            http_get(source.url, out, resume_size=begin, expected_size=source.size)
    except OSError as error:
        hint = f"call again to resume, or remove {part}"
        raise InputError(f"cannot download {source.url}: {error}", hint=hint) from error
    with part.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if source.sha256 not in (None, found):
        raise InputError(
            f"expected sha256 {source.sha256}, got {found}", file=part, hint="remove the file and call again"
        )


def _unzip(archive: Path, files: Sequence[DataFile], root: Path) -> None:
    with zipfile.ZipFile(archive) as packed:
        for file in files:
            name = PurePosixPath(file.name).name
            members = [member for member in packed.namelist() if PurePosixPath(member).name == name]
            if not members:
                raise InputError(f"expected a member {name}", file=archive)
            member = packed.getinfo(min(members, key=len))
            if member.file_size > bound(member.compress_size):
                raise InputError(f"unpacks to far more than its size: {name}", file=archive)
            _copy(packed.open(member), root / file.name)


def _copy(source: IO[bytes], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with source, atomic_write(target) as aside, aside.open("wb") as out:
        shutil.copyfileobj(source, out)
