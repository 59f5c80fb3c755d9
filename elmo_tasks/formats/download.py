"""
A file of a web server -> a path: within bounds of size and time, resumed where it was
cut, whole or not at all.
"""

import glob
import hashlib
import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from filelock import FileLock, Timeout

from elmo_tasks.errors import InputError, without_secrets
from elmo_tasks.files import atomic_write
from elmo_tasks.formats.connection import (
    Cut,
    network,
    open_url,
    require_web,
    watched,
)

logger = logging.getLogger(__name__)

Progress = Callable[[str, int, int | None], None]
"""
Called with the name of a file, its bytes so far, and how many it has, if that is known.
"""


def no_progress(name: str, done: int, size: int | None) -> None:
    """Shows nothing."""


_ATTEMPTS = 5  # without a megabyte more
_ENOUGH = 10**6
_PART = 2**18
_NO_SUCH_RANGE = 416  # the status where no byte is left after a part


@dataclass(frozen=True)
class Bounds:
    """
    `size` in bytes; `seconds` in which a connection brings a thousand bytes for each,
    or is stalled; `wait`, seconds before the second of five attempts, which doubles.
    """

    size: int
    seconds: float = 60.0
    wait: float = 1.0


class OtherDigest(InputError):
    """A file that has another digest than it should have."""

    def __init__(self, algorithm: str, expected: str, found: str, file: str) -> None:
        problem = f"expected {algorithm}={expected}, got {found}"
        super().__init__(problem, file=file)
        self.algorithm = algorithm


_NO_DIGESTS: Mapping[str, str | None] = {}


def _no_check(file: Path) -> None:
    """Accepts any file."""


def download(
    url: str,
    target: Path,
    bounds: Bounds,
    *,
    digests: Mapping[str, str | None] = _NO_DIGESTS,
    check: Callable[[Path], None] = _no_check,
    progress: Progress = no_progress,
) -> None:
    """
    Download a URL of http or https to `target`, if it is not there. Where a download
    was cut, this process or another one goes on from there, unless the file has changed
    on the server. Several processes may call this at once.

    Raises `InputError` if the file cannot be fetched, is larger than the bounds, or if
    the disk is full, `OtherDigest` if it has another of the `digests`, by their
    algorithms, and what `check` raises of the path of the whole file; `target` does not
    exist then.
    """
    name = without_secrets(url)
    require_web(url)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target, name) as is_locked:
            if target.is_file():
                return
            part = _Part(target, alone=is_locked)
            try:
                _fetch(url, part, bounds, progress)
                part.file.touch()  # of an empty file, nothing has come
                _require_digests(part.file, digests, name)
                _require_checked(part.file, check)
                with atomic_write(target) as aside:
                    part.file.rename(aside)
            finally:
                part.close()
    except OSError as error:
        problem = error.strerror or error
        raise InputError(f"cannot write: {problem}", file=target) from None


def remove(target: Path) -> int:
    """
    Remove a downloaded file, and what has come of one that was cut. Returns the number
    of bytes; waits for a process that downloads it. Raises `InputError` if it cannot be
    removed.
    """
    if not target.parent.is_dir():
        return 0
    removed = 0
    try:
        with _locked(target, target.name):
            for path in _files_of(target):
                removed += path.stat().st_size
                path.unlink()
    except OSError as error:
        problem = error.strerror or error
        raise InputError(f"cannot remove: {problem}", file=target) from None
    return removed


def _files_of(target: Path) -> list[Path]:
    """The file, if it is there, and what has come of it so far."""
    found = _parts_of(target) + _parts_of(target, end=".json")
    if target.is_file():
        found.insert(0, target)
    return found


def partial_bytes(target: Path) -> int:
    """How many bytes of a file have come that is not there yet; 0 if it is."""
    if target.is_file():
        return 0
    sizes = [path.stat().st_size for path in _parts_of(target)]
    return max(sizes, default=0)


def _parts_of(target: Path, *, end: str = ".part") -> list[Path]:
    """The files of `_Part`, of this process and others."""
    return sorted(target.parent.glob(f".{glob.escape(target.name)}*{end}"))


class _Part:
    """
    What has come of a file so far, and what of its headers says later whether the
    server still has the same one.
    """

    def __init__(self, target: Path, *, alone: bool) -> None:
        # A file system without locks: another process may write, so that nothing is
        # resumed.
        self._resumes = alone
        suffix = ".part"
        if not alone:
            suffix = f".{os.getpid()}.part"
        self.file = target.with_name(f".{target.name}{suffix}")
        self._about = self.file.with_suffix(".json")
        self.done = 0
        self.validator = ""
        with suppress(OSError, ValueError, TypeError, KeyError):
            self.validator = str(json.loads(self._about.read_text())["validator"])
            self.done = self.file.stat().st_size

    def restart(self, validator: str) -> None:
        """Forget what has come, before a new start."""
        self.done = 0
        self.validator = validator
        self.file.unlink(missing_ok=True)
        self._about.write_text(json.dumps({"validator": validator}))

    def close(self) -> None:
        """Remove what no later call can resume."""
        resumable = self._resumes and self.validator and self.file.is_file()
        if not resumable:
            self.file.unlink(missing_ok=True)
            self._about.unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        try:
            with self.file.open("ab") as out:
                out.write(data)
        except OSError:  # such as a full disk, on which it should not stay
            self.validator = ""
            raise
        self.done += len(data)


def _fetch(url: str, part: _Part, bounds: Bounds, progress: Progress) -> None:
    """Receive the whole file, in several attempts if need be."""
    failures = 0
    name = without_secrets(url)
    while True:
        before = part.done
        try:
            _receive(url, part, bounds, progress)
            return
        except Cut as cut:
            if part.done - before > _ENOUGH:
                failures = 0
            failures += 1
            if failures == _ATTEMPTS:
                hint = None
                if part.validator:
                    hint = "repeat the call to resume the download"
                raise InputError(f"cannot fetch {name}: {cut}", hint=hint) from None
            logger.warning("%s: %s; trying again", name, cut)
            time.sleep(bounds.wait * 2 ** (failures - 1))


def _receive(url: str, part: _Part, bounds: Bounds, progress: Progress) -> None:
    """
    One attempt: appends to the part, or begins it again where the server cannot resume.
    Raises `Cut`.
    """
    headers = {"User-Agent": "elmo-tasks", "Accept-Encoding": "identity"}
    if part.done and part.validator:
        headers |= {"Range": f"bytes={part.done}-", "If-Range": part.validator}
    name = without_secrets(url)
    with watched(bounds.seconds) as watch, network(name, watch):
        try:
            answer = open_url(url, headers, watch, bounds.seconds)
        except HTTPError as error:
            if error.code != _NO_SUCH_RANGE or "Range" not in headers:
                raise
            error.close()
            if _is_whole(error.headers, part):
                return
            part.restart("")
            raise Cut("the server has no such part of the file") from None
        with answer:
            total = _begin(answer, part, bounds, name)
            _require_room(part, total)
            for data in iter(partial(answer.read1, _PART), b""):
                watch.received += len(data)
                if part.done + len(data) > bounds.size:
                    raise _too_large(name, bounds)
                part.write(data)
                progress(name, part.done, total)
        if watch.is_stalled:
            raise Cut("the connection stalled")
        if total is not None and part.done != total:
            raise Cut(f"expected {total} bytes, got {part.done}")


def _begin(answer: Any, part: _Part, bounds: Bounds, name: str) -> int | None:
    """
    The size of the whole file, if the server says it. Begins the part again unless the
    answer continues it.
    """
    validator = _validator(answer.headers)
    size = _size(answer.headers.get("Content-Length", ""))
    if answer.status == 206:
        unit, _, rest = answer.headers.get("Content-Range", "").partition(" ")
        place, _, of_all = rest.partition("/")
        is_next = unit == "bytes" and place.partition("-")[0] == str(part.done)
        if not is_next or validator not in ("", part.validator):
            part.restart("")
            raise Cut("the server sent another part than it was asked for")
        size = _size(of_all)
    elif answer.status == 200:
        part.restart(validator)
    else:
        raise InputError(f"cannot fetch {name}: HTTP status {answer.status}")
    if size is not None and size > bounds.size:
        raise _too_large(name, bounds, size)
    return size


def _is_whole(headers: Any, part: _Part) -> bool:
    """
    Whether the answer that no bytes follow a part says that it is the whole file: of
    another version of the file, a server sends everything.
    """
    unit, _, of_all = headers.get("Content-Range", "").partition("*/")
    is_same = _validator(headers) in ("", part.validator)
    return unit.strip() == "bytes" and _size(of_all) == part.done and is_same


def _size(text: str) -> int | None:
    """The number of bytes that a header states, if it is one."""
    if text.isdecimal() and len(text) < 20:
        return int(text)
    return None


def _validator(headers: Any) -> str:
    """
    What names this version of the file, for `If-Range`: an ETag, unless it is weak, or
    the time of its change.
    """
    found: str = headers.get("ETag", "")
    if not found.startswith('"'):
        found = headers.get("Last-Modified", "")
    if not found.isprintable():
        return ""
    return found


def _too_large(name: str, bounds: Bounds, size: int | None = None) -> InputError:
    got = "more"
    if size is not None:
        got = f"{size:,}"
    return InputError(
        f"cannot fetch {name}: expected at most {bounds.size:,} bytes, got {got}",
        hint="--download-limit raises the limit",
    )


def _require_room(part: _Part, total: int | None) -> None:
    if total is None:
        return
    free = shutil.disk_usage(part.file.parent).free
    if total - part.done > free:
        problem = (
            f"expected {total - part.done:,} bytes of free disk space, got {free:,}"
        )
        raise InputError(problem, file=part.file.parent)


def _require_digests(file: Path, digests: Mapping[str, str | None], name: str) -> None:
    for algorithm, expected in digests.items():
        if expected is None:
            continue
        with file.open("rb") as opened:
            found = hashlib.file_digest(opened, partial(_new_hash, algorithm))
        if found.hexdigest() != expected:
            file.unlink()
            raise OtherDigest(algorithm, expected, found.hexdigest(), name)


def _require_checked(file: Path, check: Callable[[Path], None]) -> None:
    try:
        check(file)
    except InputError:
        file.unlink()  # no later call is to resume it
        raise


def _new_hash(algorithm: str) -> Any:
    """MD5 is none of those that some systems allow for security."""
    return hashlib.new(algorithm, usedforsecurity=False)


@contextmanager
def _locked(target: Path, name: str) -> Iterator[bool]:
    """Holds the lock of a download; `False` if the file system has none."""
    lock = FileLock(target.with_name(f".{target.name}.lock"))
    is_locked = True
    try:
        lock.acquire(timeout=0)
    except Timeout:
        logger.warning("%s: waiting for another process that is downloading it", name)
        lock.acquire()
    except NotImplementedError:
        is_locked = False
    try:
        yield is_locked
    finally:
        lock.release()
