"""What the commands show of downloads: a bar for each file, on a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetch import downloads


@contextmanager
def download_bars(limit_gb: float | None) -> Iterator[None]:
    """
    Inside, downloads are limited, and shown where stderr is a terminal: by a bar, or
    without the package tqdm by a line.
    """
    if limit_gb is not None and not limit_gb > 0:
        raise InputError(f"--download-limit: expected a number above 0, got {limit_gb}")
    bars: dict[str, Any] = {}

    def progress(name: str, done: int, size: int | None) -> None:
        if name not in bars:
            bars[name] = _new_bar(name, size)
        bars[name].update(done - bars[name].n)

    settings: dict[str, Any] = {}
    if sys.stderr is not None and sys.stderr.isatty():
        settings["progress"] = progress
    try:
        with downloads(limit_gb=limit_gb, **settings):
            yield
    finally:
        for bar in bars.values():
            bar.close()


def _new_bar(name: str, size: int | None) -> Any:
    file = name.rpartition("/")[2].partition("?")[0]
    try:
        from tqdm import tqdm
    except ImportError:
        return _Line(file, size)
    return tqdm(desc=file, total=size, unit="B", unit_scale=True, leave=False)


class _Line:
    """A line that is rewritten for each megabyte, and erased at the end."""

    def __init__(self, file: str, size: int | None) -> None:
        self.n = 0
        self._file = file
        self._of = ""
        if size is not None:
            self._of = f" of {size / 10**6:,.1f}"
        self._shown = -1

    def update(self, received: int) -> None:
        self.n += received
        if self.n // 10**6 > self._shown:
            self._shown = self.n // 10**6
            self._write(f"{self._file}: {self.n / 10**6:,.1f}{self._of} MB")

    def close(self) -> None:
        self._write("")

    def _write(self, text: str) -> None:
        print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)
