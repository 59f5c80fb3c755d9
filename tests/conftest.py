"""Loads the plugin, as `allennlp` does, and seeds every test."""

# isort: off
import elmo_tasks.plugin  # noqa: F401 (registers our names; it makes AllenNLP importable)

# isort: on

import logging
import os
import random
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy
import pytest
import torch
from allennlp.data import Instance
from allennlp.models import Model

from elmo_tasks.cli.main import LOG_VARIABLE
from elmo_tasks.resources import DATA_VARIABLE
from tests.models import Build, corpus, make_model
from tests.tiny import write_data_root


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """
    A folder for downloads and notes of this session; matplotlib keeps its fonts where
    they are.
    """
    with pytest.MonkeyPatch.context() as patched:
        fonts = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
        if "MPLCONFIGDIR" not in os.environ:
            patched.setenv("MPLCONFIGDIR", str(fonts / "matplotlib"))
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def fixed_seeds() -> None:
    random.seed(1)
    numpy.random.seed(1)
    torch.manual_seed(1)


@pytest.fixture(autouse=True)
def own_verbosity() -> Iterator[None]:
    """A command sets for its process what is logged, and whether there are bars."""
    variables = dict(os.environ)
    level = logging.getLogger().level
    yield
    logging.getLogger().setLevel(level)
    for name in (LOG_VARIABLE, "TQDM_DISABLE", "HF_HUB_DISABLE_PROGRESS_BARS"):
        os.environ.pop(name, None)
        if name in variables:
            os.environ[name] = variables[name]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with a few sentences in each file."""
    return write_data_root(tmp_path_factory.mktemp("data"))


@pytest.fixture
def configs(monkeypatch: pytest.MonkeyPatch, root: Path) -> Path:
    """A copy of `training_config` whose configs read `root`, at every scale."""
    monkeypatch.setenv(DATA_VARIABLE, str(root))
    return root / "training_config"


@pytest.fixture
def build(request: pytest.FixtureRequest, tmp_path: Path) -> Build:
    """
    For tests/<task>/: a tiny model of that task, by default with the vocabulary of its
    sample.
    """
    task = request.module.__name__.split(".")[1]

    def make(
        elmo: dict[str, Any] | None = None,
        given: list[Instance] | None = None,
        **keys: Any,
    ) -> Model:
        return make_model(task, given or corpus(task), tmp_path, elmo, **keys)

    return make


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium."""
    playwright = pytest.importorskip(
        "playwright.sync_api",
        reason="playwright is not installed: pip install playwright",
    )
    chromium = next(
        filter(
            None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
        ),
        None,
    )
    if chromium is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        yield browser
        browser.close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None: ...


@pytest.fixture
def serve() -> Iterator[Callable[[Path], ThreadingHTTPServer]]:
    """Serves the files of a folder until the end of the test."""
    servers: list[ThreadingHTTPServer] = []

    def serve(folder: Path) -> ThreadingHTTPServer:
        servers.append(
            ThreadingHTTPServer(
                ("127.0.0.1", 0), partial(_Quiet, directory=str(folder))
            )
        )
        Thread(target=servers[-1].serve_forever, daemon=True).start()
        return servers[-1]

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()
