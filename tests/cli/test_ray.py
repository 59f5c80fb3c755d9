"""Vectors by Ray Data: the bits of a single process, also where nodes are lost."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.elmo import ElmoVectors
from elmo_tasks.errors import InputError
from tests.elmo.samples import write_bilm
from tests.forks import temporary
from tests.ray_nodes import ray_nodes
from tests.test_flow import elmo_tasks
from tests.tiny import FIXTURES

pytestmark = pytest.mark.slow

SECONDS = 300.0
LINES = ["The harbour froze over .", "", "Ångström übt 日本語 🙂 .", "a b " * 9, "one"]


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    with ray_nodes(2) as started:
        yield started


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def model(tmp_path: Path) -> tuple[object, ...]:
    (tmp_path / "bilm").mkdir()
    files = write_bilm(tmp_path / "bilm")
    sizes = ("--max-length", 10, "--overlap", 4, "--max-tokens", 12)
    return ("--model", "+".join(map(str, files)), *sizes)


def require_equal(text: Path, file: Path, *options: object) -> None:
    """A file has the tokens and, to the bit, the vectors of a single process."""
    alone = file.with_name(f"{file.name}.alone")
    elmo_tasks("elmo", text, alone, *options)
    with ElmoVectors(alone) as expected, ElmoVectors(file) as found:
        assert len(found) == len(expected)
        for index, (array, other) in enumerate(zip(found, expected, strict=True)):
            assert found.tokens(index) == expected.tokens(index)
            assert array.tobytes() == other.tobytes()


def test_the_bits_of_a_single_process(
    nodes: Any, model: tuple[object, ...], tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("\n".join(LINES * 40))
    (tmp_path / "b.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo words\r\n")
    (tmp_path / "c.csv").write_text('text\n"It ended, alas."\nShe left.\n')
    cluster = ("--ray", nodes.address)
    raw = ("--column", "text", "--tokenizer", "basic", "--average", "--int8")
    elmo_tasks("elmo", tmp_path / "*.txt", tmp_path / "out", *model, *cluster)
    elmo_tasks("elmo", tmp_path / "c.csv", tmp_path / "out", *model, *cluster, *raw)
    for name, options in (("a.txt", ()), ("b.txt", ()), ("c.csv", raw)):
        table = tmp_path / f"out/{name}.hdf5"
        require_equal(tmp_path / name, table, *model, *options)


def test_outputs_that_are_there(
    nodes: Any,
    model: tuple[object, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("\n".join(LINES))
    out = tmp_path / "out"
    command = ("elmo", tmp_path / "*.txt", out, *model, "--ray", nodes.address)

    def written(*options: object) -> str:
        """What a call says first."""
        capsys.readouterr()
        elmo_tasks(*command, *options)
        return capsys.readouterr().out.splitlines()[0]

    assert written() == "2 of 2 files to write"
    (out / "b.txt.hdf5").unlink()
    kept = (out / "a.txt.hdf5").stat().st_ino
    assert written() == "1 of 2 files to write"
    assert written() == "0 of 2 files to write"
    assert (out / "a.txt.hdf5").stat().st_ino == kept
    with pytest.raises(InputError, match="a.txt.hdf5: .*not written with this mod"):
        written("--top")
    (out / "b.txt.hdf5").write_text("notes")
    with pytest.raises(InputError, match="b.txt.hdf5: cannot be read as HDF5"):
        written()
    assert (out / "b.txt.hdf5").read_text() == "notes"
    assert written("--force", "--top") == "2 of 2 files to write"
    require_equal(tmp_path / "b.txt", out / "b.txt.hdf5", *model, "--top")


def test_errors(nodes: Any, model: tuple[object, ...], tmp_path: Path) -> None:
    """The message is that of a single process, and other files are written."""
    (tmp_path / "a.txt").write_text("\n".join(LINES))
    (tmp_path / "b.txt").write_bytes(b"one\n\xff\n")
    (tmp_path / "x").mkdir()
    (tmp_path / "x/a.txt").touch()
    out = tmp_path / "out"
    for text, options, message in (
        ("[ab].txt", (), r"b.txt:2: expected UTF-8 text, got 0xff"),
        ("**/a.txt", (), "a.txt.hdf5"),
        ("none*", (), "expected files, nothing matches"),
        ("a.txt", ("--int8", "--pooling", "mean"), "not pooled ones"),
        ("a.txt", ("--ray", "127.0.0.1:1"), "no Ray cluster at 127.0.0.1:1: Conn"),
    ):
        options = ("--ray", nodes.address, *options)
        with pytest.raises(InputError, match=message):
            elmo_tasks("elmo", tmp_path / text, out, *model, *options)
    assert not (out / "b.txt.hdf5").exists() and temporary(tmp_path) == []


def test_a_lost_node(nodes: Any, tmp_path: Path) -> None:
    lines = (FIXTURES / "miniworld/lm/train.miniworld.txt").read_text().splitlines()
    out = tmp_path / "out"
    (tmp_path / "in").mkdir()
    texts = [tmp_path / f"in/{number}.txt" for number in range(12)]
    for number, text in enumerate(texts):
        text.write_text("\n".join(lines[200 * number : 200 * (number + 1)]))
    command = [sys.executable, "-m", "elmo_tasks", "elmo", str(tmp_path / "in/*.txt")]
    command += [str(out), "--top", "--ray", nodes.address]
    with subprocess.Popen(command) as running:
        end = time.monotonic() + SECONDS
        while not list(out.glob("*.hdf5")):
            assert running.poll() is None and time.monotonic() < end
            time.sleep(0.01)
        nodes.remove_node(next(iter(nodes.worker_nodes)), allow_graceful=False)
        assert len(list(out.glob("*.hdf5"))) < len(texts)
        assert running.wait(SECONDS) == 0
    for text in texts:
        require_equal(text, out / f"{text.name}.hdf5", "--top")


def test_without_a_cluster(model: tuple[object, ...], tmp_path: Path) -> None:
    """The command starts one on this machine, and ends it."""
    (tmp_path / "a.txt").write_text("\n".join(LINES))
    command = [sys.executable, "-m", "elmo_tasks", "elmo", str(tmp_path / "a.txt")]
    command += [str(tmp_path / "out"), *map(str, model), "--ray"]
    environment = os.environ | {
        "RAY_ADDRESS": "local",  # not the cluster of another test
        "OMP_NUM_THREADS": "1",
        "HOME": str(tmp_path),
    }
    subprocess.run(command, env=environment, check=True, timeout=SECONDS)
    table = tmp_path / "out/a.txt.hdf5"
    require_equal(tmp_path / "a.txt", table, *model)
