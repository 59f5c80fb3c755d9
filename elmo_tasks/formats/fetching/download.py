"""
A file of a web server -> the cache, by pooch: whole, or not at all. Where the cache of
this user has what was fetched, unpacked or noted.
"""

import hashlib
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from elmo_tasks.errors import InputError
from elmo_tasks.system.files import file_sha256
from elmo_tasks.system.terminal import terminal_bar


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


def download(
    url: str, target: Path, *, known_hash: str | None = None, seconds: float = 30.0
) -> None:
    """
    Download a URL of http or https to `target`, unless it is there. A bar shows the
    progress on a terminal.

    # Parameters

    - `known_hash`: as `md5:...` or `sha256:...`; a file that is there and has another
      hash is replaced.
    - `seconds`: how long the server may take to answer, and between two parts.

    Raises `InputError` if the file cannot be fetched or written, or has another hash;
    `target` is then as before.
    """
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")  # it logs whole addresses, with their keys
    total = 1  # until the server says the size
    try:
        with terminal_bar(total=total, unit="B", unit_scale=True, leave=False) as bar:
            fetch = pooch.HTTPDownloader(
                progressbar=bar,
                timeout=seconds,
                headers={"User-Agent": "elmo-tasks", "Accept-Encoding": "identity"},
            )
            pooch.retrieve(
                url, known_hash, fname=target.name, path=target.parent, downloader=fetch
            )
    except requests.RequestException as error:  # an OSError, too
        raise InputError(f"cannot fetch {url}: {_reason(error)}") from None
    except OSError as error:
        problem = error.strerror or error
        raise InputError(f"cannot write: {problem}", file=target) from None
    except ValueError as error:  # pooch says which hash it expected, and which it got
        raise InputError(f"cannot fetch {url}: {error}") from None


def _reason(error: Any) -> str:
    """Without the message, which contains the keys of an address."""
    if error.response is not None:
        return f"HTTP error {error.response.status_code}: {error.response.reason}"
    return type(error).__name__
