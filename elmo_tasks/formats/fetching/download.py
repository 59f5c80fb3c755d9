"""A file of a web server -> the cache, by pooch: whole and bounded, or not at all."""

from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from filelock import FileLock

from elmo_tasks.errors import InputError
from elmo_tasks.system.terminal import terminal_bar

_PART = 2**16  # bytes
_HEADERS = {"User-Agent": "elmo-tasks", "Accept-Encoding": "identity"}
_PAGE_SUFFIXES = (".html", ".htm", ".xhtml", ".php")


def download(
    url: str,
    target: Path,
    *,
    most: int,
    known_hash: str | None = None,
    seconds: float = 30.0,
) -> None:
    """
    Download a URL of http or https to `target`, in a folder that nothing else uses.
    Several processes may call this at once; one downloads, the others wait for it. A
    bar shows the progress on a terminal.

    # Parameters

    - `most`: the largest size, in bytes.
    - `known_hash`: as `md5:...` or `sha256:...`; a file that is there and has another
      hash is replaced.
    - `seconds`: how long the server may take to answer, and between two parts.

    Raises `InputError` if the file cannot be fetched, is a web page, too large, or has
    another hash, or if the disk is full; `target` is then as before.
    """
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")  # it logs whole addresses, with their keys
    name = url
    lock = target.with_name(f".{target.name}.lock")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock):
            _remove_others(target.parent, target, lock)
            pooch.retrieve(
                url,
                known_hash,
                fname=target.name,
                path=target.parent,
                downloader=_Downloader(name, most, seconds),
            )
    except InputError:
        raise
    except requests.RequestException as error:
        raise InputError(f"cannot fetch {name}: {_reason(error)}") from None
    except OSError as error:
        problem = error.strerror or error
        raise InputError(f"cannot write: {problem}", file=target) from None
    except ValueError as error:  # pooch says which hash it expected, and which it got
        raise InputError(f"cannot fetch {name}: {error}") from None


def _remove_others(folder: Path, *kept: Path) -> None:
    """Removes what a killed process has left of a download."""
    for path in folder.iterdir():
        if path not in kept and path.is_file():
            path.unlink()


class _Downloader:
    """
    Downloads a file for pooch. Raises `InputError` as soon as the server or the size
    shows that it is not the right one; `name` is for error messages.
    """

    def __init__(self, name: str, most: int, seconds: float) -> None:
        self._name = name
        self._most = most
        self._seconds = seconds

    def __call__(self, url: str, output_file: str, pooch: Any) -> None:
        """Write what the URL has to a file; pooch passes itself, too."""
        from pooch import HTTPDownloader

        title = PurePosixPath(urlsplit(url).path).name
        with (
            open(output_file, "wb") as opened,
            terminal_bar(
                desc=title,
                total=1,  # until the server says the size
                unit="B",
                unit_scale=True,
                leave=False,
            ) as bar,
        ):
            fetch = HTTPDownloader(
                progressbar=bar,
                chunk_size=_PART,
                timeout=self._seconds,
                headers=_HEADERS,
                hooks={"response": self._look_at},
            )
            fetch(url, _BoundedDownload(opened, self._name, self._most), pooch)

    def _look_at(self, answer: Any, **options: Any) -> None:
        """Raises `InputError` for an answer that is too large, or a web page."""
        if answer.status_code != 200:
            return
        length = answer.headers.get("Content-Length", "")
        if length.isdecimal() and int(length) > self._most:
            raise too_large(self._name, self._most, int(length))
        kind = answer.headers.get("Content-Type", "")
        suffix = PurePosixPath(urlsplit(answer.url).path).suffix.lower()
        if kind.startswith("text/html") and suffix not in _PAGE_SUFFIXES:
            problem = f"cannot fetch {self._name}: expected a file, got a web page"
            raise InputError(problem, hint="does the address require a login?")


class _BoundedDownload:
    """A file that is written. Raises `InputError` where it becomes too large."""

    def __init__(self, opened: BinaryIO, name: str, most: int) -> None:
        self._opened = opened
        self._name = name
        self._most = most
        self._size = 0

    def write(self, data: bytes) -> None:
        """Append a part of the file."""
        self._size += len(data)
        if self._size > self._most:
            raise too_large(self._name, self._most, self._size)
        self._opened.write(data)

    def flush(self) -> None:
        """Pass what was written to the disk."""
        self._opened.flush()


def _reason(error: Any) -> str:
    """
    Why something could not be fetched. The messages of `requests` contain the keys of
    an address.
    """
    from requests import ConnectionError, HTTPError, Timeout

    if isinstance(error, HTTPError) and error.response is not None:
        return f"HTTP error {error.response.status_code}: {error.response.reason}"
    if isinstance(error, Timeout):
        return "the server does not answer"
    if isinstance(error, ConnectionError):
        return f"no connection to the server ({type(error).__name__})"
    return f"{type(error).__name__}: {error}"


def too_large(name: str, most: int, size: int) -> InputError:
    """The error for a file, or the files of a model, that may not have this size."""
    problem = f"cannot fetch {name}: expected at most {most:,} bytes, got {size:,}"
    return InputError(problem, hint="--download-limit raises the limit")
