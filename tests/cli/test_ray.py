"""Vectors by Ray Data: the bits of a single process, also where nodes are lost."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from elmo_tasks.elmo import ElmoVectors
from elmo_tasks.errors import InputError
from tests.elmo.samples import write_bilm
from tests.forks import temporary
from tests.ray_nodes import nodes
from tests.test_flow import elmo_tasks
from tests.tiny import FIXTURES

__all__ = ["nodes"]

pytestmark = pytest.mark.slow

SECONDS = 300.0
LINES = ["The harbour froze over .", "", "Ångström übt 日本語 🙂 .", "a b " * 9, "one"]


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


def require_equal(text: Path, table: Path, *options: object) -> None:
    """A table has the tokens and, to the bit, the vectors of a single process."""
    from pyarrow.parquet import read_table

    alone = table.with_name(f"{table.name}.hdf5")
    elmo_tasks("elmo", text, alone, *options)
    rows = read_table(table).to_pylist()
    with ElmoVectors(alone) as vectors:
        assert len(rows) == len(vectors)
        for index, (row, array) in enumerate(zip(rows, vectors, strict=True)):
            assert row["tokens"] == vectors.tokens(index)
            assert row["sentence"] == vectors.sentence(index)
            names = [name for name in row if name not in ("sentence", "tokens")]
            found = np.array([row[name] for name in names], array.dtype)
            assert found.tobytes() == array.tobytes()


def test_the_bits_of_a_single_process(
    nodes: Any,
    model: tuple[object, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also of files that are written later, or again."""
    (tmp_path / "a.txt").write_text("\n".join(LINES * 40))
    (tmp_path / "b.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo words\r\n")
    (tmp_path / "c.csv").write_text('text\n"It ended, alas."\nShe left.\n')
    raw = ("--column", "text", "--tokenizer", "basic", "--average", "--float16")
    out = tmp_path / "out"

    def written(text: str, *options: object) -> str:
        """What a call says first."""
        capsys.readouterr()
        options = (*model, "--ray", nodes.address, *options)
        elmo_tasks("elmo", tmp_path / text, out, *options)
        return capsys.readouterr().out.splitlines()[0]

    assert written("a.txt") == "1 of 1 files to write"
    kept = (out / "a.txt.parquet").stat().st_ino
    assert written("*.txt") == "1 of 2 files to write"
    assert written("*.txt") == "0 of 2 files to write"
    assert (out / "a.txt.parquet").stat().st_ino == kept
    with pytest.raises(InputError, match="a.txt.parquet: .*not written with this mod"):
        written("a.txt", "--top")
    (out / "c.csv.parquet").write_text("notes")
    with pytest.raises(InputError, match="c.csv.parquet: cannot read the table"):
        written("c.csv", *raw)
    assert (out / "c.csv.parquet").read_text() == "notes"
    assert written("c.csv", *raw, "--force") == "1 of 1 files to write"
    for name, options in (("a.txt", ()), ("b.txt", ()), ("c.csv", raw)):
        require_equal(tmp_path / name, out / f"{name}.parquet", *model, *options)


def test_errors(nodes: Any, model: tuple[object, ...], tmp_path: Path) -> None:
    """The message is that of a single process, and other files are written."""
    (tmp_path / "a.txt").write_text("\n".join(LINES))
    (tmp_path / "b.txt").write_bytes(b"one\n\xff\n")
    (tmp_path / "x").mkdir()
    (tmp_path / "x/a.txt").touch()
    out = tmp_path / "out"
    for text, options, message in (
        ("[ab].txt", (), r"b.txt:2: expected UTF-8 text, got 0xff"),
        ("**/a.txt", (), "a.txt.parquet"),
        ("none*", (), "expected files, nothing matches"),
        ("a.txt", ("--int8",), "--ray cannot be combined with --int8"),
        ("a.txt", ("--pooling", "mean"), "--ray cannot be combined with"),
        ("a.txt", ("--ray", "127.0.0.1:1"), "no Ray cluster at 127.0.0.1:1: Conn"),
    ):
        options = ("--ray", nodes.address, *options)
        with pytest.raises(InputError, match=message):
            elmo_tasks("elmo", tmp_path / text, out, *model, *options)
    assert not (out / "b.txt.parquet").exists() and temporary(tmp_path) == []


def test_a_lost_node(nodes: Any, tmp_path: Path) -> None:
    lines = (FIXTURES / "miniworld/lm/train.miniworld.txt").read_text().splitlines()
    out = tmp_path / "out"
    (tmp_path / "in").mkdir()
    texts = [tmp_path / f"in/{number}.txt" for number in range(8)]
    for number, text in enumerate(texts):
        text.write_text("\n".join(lines[200 * number : 200 * (number + 1)]))
    command = [sys.executable, "-m", "elmo_tasks", "elmo", str(tmp_path / "in/*.txt")]
    command += [str(out), "--top", "--ray", nodes.address]
    with subprocess.Popen(command) as running:
        end = time.monotonic() + SECONDS
        try:
            while not (written := list(out.glob("*.parquet"))):
                assert running.poll() is None and time.monotonic() < end
                time.sleep(0.01)
            nodes.remove_node(next(iter(nodes.worker_nodes)), allow_graceful=False)
            assert len(written) < 8 and running.wait(SECONDS) == 0
        finally:
            running.kill()
    for text in texts:
        require_equal(text, out / f"{text.name}.parquet", "--top")


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
    require_equal(tmp_path / "a.txt", tmp_path / "out/a.txt.parquet", *model)
