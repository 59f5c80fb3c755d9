"""
A small data root, and commands that run in forks of a server: importing AllenNLP takes
seconds. The tutorials and the site, which are executed and built once.
"""

import os
import runpy
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import jupytext
import nbformat
import pytest
from filelock import FileLock

from tests.docs.short import cut
from tests.tiny import FIXTURES, ROOT

TUTORIALS = runpy.run_path(str(ROOT / "docs" / "tutorials" / "execute.py"))
URLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
SITE = urlsplit(URLS["Documentation"]).path
"""The path of the published site's address."""


@pytest.fixture(scope="session")
def data_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    The synthetic corpus, each file cut to its first units; a training takes seconds.
    """
    root = tmp_path_factory.mktemp("data")
    for source in sorted((FIXTURES / "miniworld").rglob("*")):
        if source.is_file():
            target = root / source.relative_to(FIXTURES / "miniworld")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(cut(source))
    return root


@pytest.fixture(scope="session")
def environment(
    tmp_path_factory: pytest.TempPathFactory, data_root: Path
) -> Iterator[dict[str, str]]:
    """
    With `allennlp`, `elmo-tasks` and `python` on the path, which run in forks of a
    server.
    """
    folder = tmp_path_factory.mktemp("bin")
    for name in ("allennlp", "elmo-tasks", "python"):
        shim = folder / name
        shim.write_text(
            f'#!/bin/sh\nexec {sys.executable} -SE {ROOT}/tests/docs/client.py {name} "$@"\n'
        )
        shim.chmod(0o755)
    address = str(folder / "socket")
    plain = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("ELMO_TASKS")
    }
    variables = plain | {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "COMMAND_SERVER": address,
        "ELMO_TASKS_DATA": str(data_root),
        "OMP_NUM_THREADS": "1",
    }
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.docs.server", address], cwd=ROOT, env=variables
    )
    while not Path(address).exists() and server.poll() is None:
        time.sleep(0.1)
    yield variables
    server.terminate()
    server.wait()


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the processes of this session share."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder = base / "shared"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def executed(
    environment: dict[str, str],
    shared: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[Path], Path]:
    """
    Executes a tutorial, once in this session: its source -> its notebook. The answers of
    its exercises run after its cells.
    """
    folder = shared / "tutorials"
    folder.mkdir(exist_ok=True)

    def execute(source: Path) -> Path:
        file = folder / f"{source.stem}.ipynb"
        with FileLock(f"{file}.lock"), pytest.MonkeyPatch.context() as patched:
            if file.exists():
                return file
            for name, value in environment.items():
                patched.setenv(name, value)
            notebook = jupytext.read(source)
            count = len(notebook.cells)
            notebook.cells += TUTORIALS["answers"](notebook)
            TUTORIALS["execute"](notebook, tmp_path_factory.mktemp(source.stem))
            del notebook.cells[count:]
            TUTORIALS["clean"](notebook)
            nbformat.write(notebook, file)
        return file

    return execute


@pytest.fixture(scope="session")
def site(executed: Callable[[Path], Path], shared: Path) -> Path:
    """
    The folder of a server with the site as it is published: built once in this session,
    as `latest`, below the path of its address.
    """
    root = shared / "server"
    for source in reversed(TUTORIALS["SOURCES"]):  # the tests begin with the first
        executed(source)
    with FileLock(f"{root}.lock"):
        if not root.exists():
            built = shared / "site"
            build(ROOT / "docs", built, shared / "tutorials")
            published = root / SITE.strip("/")
            published.mkdir(parents=True)
            publish = runpy.run_path(str(ROOT / "docs" / "publish.py"))["publish"]
            publish(built, published, "latest")
    return root


def build(sources: Path, target: Path, tutorials: Path) -> None:
    """Builds the site as `make docs` does."""
    done = sphinx(sources, target, SITE_VERSION="latest", TUTORIALS=str(tutorials))
    assert done.returncode == 0, done.stderr


def sphinx(
    sources: Path, target: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    options = ["-b", "dirhtml", "-W", "--keep-going", "-q", "-d", f"{target}-doctrees"]
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            *options,
            "-c",
            ROOT / "docs",
            sources,
            target,
        ],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | variables,
        capture_output=True,
        text=True,
    )
