"""
Where the cache of this user has what was fetched, unpacked or noted.
"""

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
    downloaded. Raises `InputError` unless it is a URL of http or https.
    """
    digest = hashlib.sha256(url.encode()).hexdigest()[:16]
    return cache_folder() / "downloads" / digest / _name(url)


def _name(url: str) -> str:
    """The name of the file at a URL."""
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname)
        is_valid = is_valid and (parts.port is None or parts.port > 0)
    except ValueError:
        is_valid = False
    if not is_valid:
        expected = "a path, or an address that begins with https://, http:// or hf://"
        shown = url
        raise InputError(f"expected {expected}, got {shown}")
    return Path(parts.path).name or "file"


def unpacked_folder(file: Path) -> Path:
    """Where the members of a ZIP are in the cache, if it was unpacked."""
    return cache_folder() / "unpacked" / file_sha256(file)
