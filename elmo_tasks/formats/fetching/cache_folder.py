"""Where the cache of this user has what was fetched, unpacked or noted."""

import hashlib
import os
from pathlib import Path
from urllib.parse import urlsplit

from elmo_tasks.errors import InputError
from elmo_tasks.system.files import file_sha256


def cache_folder() -> Path:
    """
    Where downloads and unpacked ZIPs are: `elmo_tasks` in `XDG_CACHE_HOME`, by default
    `~/.cache`.
    """
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return caches.expanduser() / "elmo_tasks"


def download_target(url: str) -> Path:
    """
    Where the file of a URL is in the cache, in a folder that has no other, if it was
    downloaded. Raises `InputError` for an invalid URL.
    """
    try:
        name = Path(urlsplit(url).path).name or "file"
    except ValueError as error:
        raise InputError(f"cannot fetch {url}: {error}") from None
    digest = hashlib.sha256(url.encode()).hexdigest()[:16]
    return cache_folder() / "downloads" / digest / name


def unpacked_folder(file: Path) -> Path:
    """Where the members of a ZIP are in the cache, if it was unpacked."""
    return cache_folder() / "unpacked" / file_sha256(file)
