"""Files of `elmo_tasks.corpora` from the web: resumed, verified, unpacked to their place below the data root."""

import hashlib
import shutil
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from elmo_tasks.atomic import atomic_write
from elmo_tasks.corpora import DataFile, Download
from elmo_tasks.errors import InputError

_CHUNK = 2**20
_SECONDS = 60


def fetch(source: Download, files: Sequence[DataFile], root: Path) -> None:
    """
    Downloads the source of some files to `root/downloads`, and puts the files in their places. Raises `InputError` if
    the download fails, does not have the expected size or sha256, or does not fit on the disk; what has been downloaded
    stays, and the next call resumes.
    """
    target = root / "downloads" / PurePosixPath(source.url).name
    target.parent.mkdir(exist_ok=True)
    if not target.exists():
        part = target.with_name(f"{target.name}.part")
        _download(source, part)
        _verify(source, part)
        part.rename(target)
    if target.suffix == ".zip":
        _unzip(target, files, root)
    elif target.name.endswith(".tar.gz"):
        _untar(target, root / "lm")
    else:
        _copy(target.open("rb"), root / files[0].name)


def _download(source: Download, part: Path) -> None:
    """Appends to `part` what is missing of it; starts again where the server cannot resume."""
    import requests

    begin = part.stat().st_size if part.exists() else 0
    if source.size is not None:
        if begin >= source.size:
            return
        free = shutil.disk_usage(part.parent).free
        if free < source.size - begin:
            raise InputError(f"expected {source.size - begin:,} bytes of free disk, got {free:,}", file=part.parent)
    headers = {"Range": f"bytes={begin}-"} if begin else {}
    try:
        with requests.get(source.url, headers=headers, stream=True, timeout=_SECONDS) as answer:
            answer.raise_for_status()
            with part.open("ab" if answer.status_code == requests.codes.partial_content else "wb") as out:
                for chunk in answer.iter_content(_CHUNK):
                    out.write(chunk)
    except (OSError, requests.RequestException) as error:
        raise InputError(f"cannot download {source.url}: {error}", hint="call again to resume") from error


def _verify(source: Download, part: Path) -> None:
    size = part.stat().st_size
    if source.size is not None and size < source.size:
        problem = f"the download of {source.url} ended after {size:,} of {source.size:,} bytes"
        raise InputError(problem, file=part, hint="call again to resume")
    with part.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if (source.size or size) != size or (source.sha256 or found) != found:
        expected = source.sha256 or f"{source.size:,} bytes"
        problem = f"expected {expected}, got {found} of {size:,} bytes"
        raise InputError(problem, file=part, hint="remove the file and call again")


def _unzip(archive: Path, files: Sequence[DataFile], root: Path) -> None:
    with zipfile.ZipFile(archive) as packed:
        for file in files:
            name = PurePosixPath(file.name).name
            members = [member for member in packed.namelist() if PurePosixPath(member).name == name]
            if not members:
                raise InputError(f"expected a member {name}", file=archive)
            _copy(packed.open(min(members, key=len)), root / file.name)


def _untar(archive: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")


def _copy(source: IO[bytes], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with source, atomic_write(target) as aside, aside.open("wb") as out:
        shutil.copyfileobj(source, out, _CHUNK)
