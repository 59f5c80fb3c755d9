"""A file of a web server -> the cache, by pooch: whole and bounded, or not at all."""

from pathlib import Path
from typing import Any, BinaryIO

from elmo_tasks.errors import InputError
from elmo_tasks.system.terminal import terminal_bar


def download(
    url: str,
    target: Path,
    *,
    most: int,
    known_hash: str | None = None,
    seconds: float = 30.0,
) -> None:
    """
    Download a URL of http or https to `target`, unless it is there. A bar shows the
    progress on a terminal.

    # Parameters

    - `most`: the largest size, in bytes.
    - `known_hash`: as `md5:...` or `sha256:...`; a file that is there and has another
      hash is replaced.
    - `seconds`: how long the server may take to answer, and between two parts.

    Raises `InputError` if the file cannot be fetched or written, is too large, or has
    another hash; `target` is then as before.
    """
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")  # it logs whole addresses, with their keys

    def fetch(url: str, output_file: str, pooch: Any) -> None:
        _fetch(url, output_file, pooch, most=most, seconds=seconds)

    try:
        pooch.retrieve(
            url, known_hash, fname=target.name, path=target.parent, downloader=fetch
        )
    except InputError:
        raise
    except requests.RequestException as error:  # an OSError, too
        raise InputError(f"cannot fetch {url}: {_reason(error)}") from None
    except OSError as error:
        problem = error.strerror or error
        raise InputError(f"cannot write: {problem}", file=target) from None
    except ValueError as error:  # pooch says which hash it expected, and which it got
        raise InputError(f"cannot fetch {url}: {error}") from None


def _fetch(
    url: str, output_file: str, pooch: Any, *, most: int, seconds: float
) -> None:
    """Write what a URL has to a file; pooch passes itself, too."""
    from pooch import HTTPDownloader

    with (
        open(output_file, "wb") as opened,
        terminal_bar(
            total=1,  # until the server says the size
            unit="B",
            unit_scale=True,
            leave=False,
        ) as bar,
    ):
        fetch = HTTPDownloader(
            progressbar=bar,
            timeout=seconds,
            headers={"User-Agent": "elmo-tasks", "Accept-Encoding": "identity"},
        )
        fetch(url, _BoundedFile(opened, url, most), pooch)


class _BoundedFile:
    """A file that is written. Raises `InputError` where it becomes too large."""

    def __init__(self, opened: BinaryIO, name: str, most: int) -> None:
        self._opened = opened
        self._name = name
        self._most = most
        self.flush = opened.flush

    def write(self, data: bytes) -> None:
        """Append a part of the file."""
        self._opened.write(data)
        require_size(self._name, self._most, self._opened.tell())


def require_size(name: str, most: int, size: int) -> None:
    """Raises `InputError` if a file, or the files of a model, are too large."""
    if size > most:
        problem = f"cannot fetch {name}: expected at most {most:,} bytes, got {size:,}"
        raise InputError(problem, hint="--download-limit raises the limit")


def _reason(error: Any) -> str:
    """Without the message, which contains the keys of an address."""
    if error.response is not None:
        return f"HTTP error {error.response.status_code}: {error.response.reason}"
    return type(error).__name__
