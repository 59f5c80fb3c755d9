"""
Where the cache of this user has what was fetched, unpacked or noted.
"""

import hashlib
import os
from pathlib import Path

from elmo_tasks.errors import InputError, without_secrets
from elmo_tasks.files import file_sha256
from elmo_tasks.formats.connection import require_web


def cache_folder() -> Path:
    """
    Where downloads and unpacked ZIPs are: `elmo_tasks` in `XDG_CACHE_HOME`, by default
    `~/.cache`.
    """
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return caches.expanduser() / "elmo_tasks"


def download_target(url: str) -> Path:
    """
    Where the file of a URL is in the cache, if it was downloaded. The place does not
    depend on the URL's key: an archive, without it, finds it.
    """
    name = Path(require_web(url).path).name or "file"
    return cache_folder() / "downloads" / _place(url) / name


def first_digest(url: str) -> str | None:
    """The SHA-256 of the first download of a URL, if it is kept."""
    try:
        return first_file(url).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def first_file(url: str) -> Path:
    """The file that keeps it."""
    return cache_folder() / "first" / _place(url)


def forget_first(url: str) -> int:
    """
    Remove what is known of the first download of a URL. Returns the number of bytes.
    Raises `InputError` if it cannot be removed.
    """
    file = first_file(url)
    try:
        n_bytes = file.stat().st_size
        file.unlink()
    except FileNotFoundError:
        return 0
    except OSError as error:
        problem = error.strerror or error
        raise InputError(f"cannot remove: {problem}", file=file) from None
    return n_bytes


def _place(url: str) -> str:
    return hashlib.sha256(without_secrets(url).encode()).hexdigest()[:16]


def unpacked_folder(file: Path) -> Path:
    """Where the members of a ZIP are in the cache, if it was unpacked."""
    return cache_folder() / "unpacked" / file_sha256(file)
