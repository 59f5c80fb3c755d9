"""An empty cache, and a web server, for the tests of downloads."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from elmo_tasks.formats.fetch import downloads
from tests.web_server import Server, serving


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the cache, which has nothing; attempts wait for a moment only."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with downloads(wait=0.01, seconds=1.0):
        yield tmp_path / "cache/elmo_tasks"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server
