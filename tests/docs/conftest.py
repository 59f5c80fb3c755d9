"""
A small data root, and commands that run in forks of a server: importing AllenNLP takes
seconds.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tiny import FIXTURES, ROOT


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


def cut(file: Path) -> bytes:
    """The first part of a corpus file, ending at the end of a sentence or document."""
    if file.parent.name == "ner":
        return b"\n\n".join(file.read_bytes().split(b"\n\n")[:24]) + b"\n\n"
    if file.parent.name in ("snli", "sst", "lm"):
        return b"".join(file.read_bytes().splitlines(keepends=True)[:200])
    return file.read_bytes()


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
