"""
Check by name and first bytes that a downloaded file is what it should be: a server may
stop too early without an error, or answer with a login page.
"""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from elmo_tasks.errors import InputError
from elmo_tasks.formats.connection import require_web
from elmo_tasks.formats.magic import GZIP, HDF5, ZIP, ZSTD

_START = 512  # bytes
_SMALL_JSON = 2**20  # bytes

_BEGINNINGS = {
    ".gz": GZIP,
    ".tgz": GZIP,
    ".bz2": b"BZh",
    ".xz": b"\xfd7zXZ\x00",
    ".zst": ZSTD,
}
"""The first bytes of files with these suffixes."""

_PAGE_SUFFIXES = (".html", ".htm", ".xhtml", ".php")


def require_sound(file: Path, url: str) -> None:
    """
    Raises `InputError` if a file is a web page, or no whole ZIP, HDF5, safetensors or
    JSON file where its name or its beginning says that it is one. Little of it is read.
    """
    suffix = PurePosixPath(require_web(url).path).suffix.lower()
    with file.open("rb") as opened:
        start = opened.read(_START)
    if _is_page(start) and suffix not in _PAGE_SUFFIXES:
        raise _unsound("a file", "a web page", url)
    for kind, (suffixes, beginning, is_whole) in _KINDS.items():
        is_meant = suffix in suffixes or (beginning and start.startswith(beginning))
        if is_meant and not is_whole(file):
            raise _unsound(f"a whole {kind} file", "another one or a part", url)
    if not start.startswith(_BEGINNINGS.get(suffix, b"")):
        raise _unsound(f"a {suffix} file", "another one", url)


def _unsound(expected: str, got: str, url: str) -> InputError:
    return InputError(
        f"expected {expected}, got {got}",
        file=url,
        hint="nothing was kept, so repeating the call downloads it again; does the address "
        "require a login?",
    )


def _is_page(start: bytes) -> bool:
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return text.startswith((b"<!doctype html", b"<html"))


def _is_hdf5(file: Path) -> bool:
    """HDF5 knows its size, so that opening a part of a file fails."""
    import h5py

    try:
        h5py.File(file, "r").close()
    except (OSError, RuntimeError, ValueError):
        return False
    return True


def _is_safetensors(file: Path) -> bool:
    """The header says where the last tensor ends."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy"):
            return True
    except (SafetensorError, OSError, RuntimeError):
        return False


def _is_json(file: Path) -> bool:
    """
    Whether it begins and ends as an object or a list; a small one, such as a model's
    options, is read.
    """
    size = file.stat().st_size
    with file.open("rb") as opened:
        start = opened.read(_START).removeprefix(b"\xef\xbb\xbf").lstrip()
        opened.seek(max(0, size - _START))
        end = opened.read().rstrip()
    if not start.startswith((b"{", b"[")) or not end.endswith((b"}", b"]")):
        return False
    if size > _SMALL_JSON:
        return True
    text = file.read_bytes()
    return _parses([text]) or _parses(text.splitlines())


def _parses(values: list[bytes]) -> bool:
    """Whether each is a value of JSON; some files have one in each line."""
    try:
        for value in values:
            if value.strip():
                json.loads(value.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return False
    return True


_KINDS: dict[str, tuple[tuple[str, ...], bytes, Callable[[Path], bool]]] = {
    "ZIP": ((".zip",), ZIP, zipfile.is_zipfile),
    "HDF5": ((".hdf5", ".h5"), HDF5, _is_hdf5),
    "safetensors": ((".safetensors",), b"", _is_safetensors),
    "JSON": ((".json",), b"", _is_json),
}
"""Suffixes, first bytes if they say it, and the check of a kind of file."""
