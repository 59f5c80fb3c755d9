"""What the commands show of downloads: a bar for each file, on a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetch import downloads


@contextmanager
def download_bars(limit_gb: float | None) -> Iterator[None]:
    """
    Inside, downloads are limited, and shown by a bar where stderr is a terminal.
    """
    if limit_gb is not None and not limit_gb > 0:
        raise InputError(f"--download-limit: expected a number above 0, got {limit_gb}")
    bars: dict[str, tqdm] = {}

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


def _new_bar(name: str, size: int | None) -> tqdm:
    file = name.rpartition("/")[2].partition("?")[0]
    return tqdm(desc=file, total=size, unit="B", unit_scale=True, leave=False)
