"""
Vectors in shards: whoever writes them, and however often the call is interrupted, the
same bytes.
"""

import gzip
import json
import multiprocessing
import pickle
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elmo_tasks.elmo import Elmo, ElmoVectors
from elmo_tasks.elmo.vectors.shard_plan import plan
from elmo_tasks.elmo.vectors.shards import (
    Row,
    ShardJob,
    _opened,
    write_shard,
    write_shards,
)
from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.text_files import list_files
from elmo_tasks.system.files import LOCK
from elmo_tasks.system.workers import WorkerLost, processes
from tests.elmo.samples import write_bilm
from tests.forks import fork, killed_while_writing, status_of, writing

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

LINES = [
    "The harbour froze over .",
    "",
    "one",
    "Ångström übt 日本語 🙂 .",
    "a b c d e f g h i j k l m n",
    "one",
    "two",
]


@pytest.fixture
def elmo(tmp_path: Path) -> Elmo:
    (tmp_path / "bilm").mkdir()
    return Elmo.from_files(
        *write_bilm(tmp_path / "bilm"), max_length=10, overlap=4, max_tokens=12
    )


@pytest.fixture
def corpus(tmp_path: Path) -> list[str]:
    """The lines twice: as text, and as a Parquet file of tokens."""
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("\n".join(LINES).encode()))
    tokens = pyarrow.array(
        [line.split() for line in LINES], pyarrow.list_(pyarrow.string())
    )
    parquet.write_table(pyarrow.table({"tokens": tokens}), tmp_path / "b.parquet")
    return [str(tmp_path / "a.txt.gz"), str(tmp_path / "b.parquet")]


def write(
    elmo: Elmo, files: Sequence[str], folder: Path, *, count: int = 4, **changes: Any
) -> Row:
    of_job = {}
    for key in ("layers", "stored", "input_format", "column"):
        if key in changes:
            of_job[key] = changes.pop(key)
    job = ShardJob(elmo=elmo, folder=folder, **of_job)
    return write_shards(job, files, count, **changes)


def parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("part-*")}


def test_each_line_has_its_vectors(
    elmo: Elmo, corpus: list[str], tmp_path: Path
) -> None:
    done = write(elmo, corpus, tmp_path / "out")
    assert (done["sentences"], done["tokens"]) == (14, 54)
    with ElmoVectors(tmp_path / "out") as vectors:
        expected = elmo.embed(LINES * 2)
        for index, (found, array) in enumerate(zip(vectors, expected, strict=True)):
            assert found.shape == array.shape and np.allclose(found, array, atol=1e-6)
            assert vectors.tokens(index) == (LINES * 2)[index].split()
        assert vectors.sentence(-4) == LINES[3] and len(vectors[3:5]) == 2
        assert (
            vectors.layer_names[0] == "layer 0, context-free"
            and vectors.info["shards"] == 4
        )
    table = parquet.read_table(tmp_path / "out")
    assert table.column("index").to_pylist() == list(range(14))
    assert table.schema.field("layer_2").type == pyarrow.list_(
        pyarrow.list_(pyarrow.float32(), 12)
    )
    for part in (tmp_path / "out").glob("part-*"):
        part.unlink()
    with pytest.raises(InputError, match="part-00001.parquet"):
        vectors.tokens(4)  # which was read last: it was closed


def test_one_layer_in_float16_and_json_lines(elmo: Elmo, tmp_path: Path) -> None:
    rows: list[object] = [["New York"], {"text": "one two"}, {"text": ["one", "two"]}]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    options: dict[str, Any] = {
        "layers": 1,
        "stored": "float16",
        "input_format": "json",
        "column": "text",
    }
    write(elmo, [str(tmp_path / "in.jsonl")], tmp_path / "out", **options)
    vectors = ElmoVectors(tmp_path / "out")
    assert [vectors.tokens(index) for index in range(3)] == [
        ["New York"],
        ["one", "two"],
        ["one", "two"],
    ]
    assert vectors[1].dtype == np.float16 and np.allclose(
        vectors[1], elmo.embed(["one two"], layers=1)[0], atol=1e-2
    )


@pytest.mark.parametrize("sizes", [[5], [0, 3, 0, 0, 4, 1], [1] * 7])
def test_shards_partition_the_corpus(sizes: list[int], tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(sum(sizes))]
    for place in range(len(sizes)):
        own = lines[sum(sizes[:place]) : sum(sizes[: place + 1])]
        (tmp_path / f"{place}.txt").write_text("".join(f"{line}\n" for line in own))
    files = list_files(f"file://{tmp_path}/*.txt")  # a file system of pyarrow
    assert len(files) == len(sizes)
    for count in range(1, 10):
        shards, _ = plan(files, count, "tokens")
        read = []
        sizes_of_shards = []
        for shard in shards:
            rows = [row for _, _, row in shard.read("tokens")][: shard.lines]
            read += rows
            sizes_of_shards.append(len(rows))
        assert read == lines and len(shards) == min(count, len(lines))
        assert max(sizes_of_shards) - min(sizes_of_shards) <= 1


class Killed(Exception):
    """Stands for a kill."""


def killed_after_one(tokens: int) -> None:
    raise Killed


def test_a_second_call_writes_what_is_missing(
    elmo: Elmo, corpus: list[str], tmp_path: Path
) -> None:
    write(elmo, corpus, tmp_path / "whole")
    out = tmp_path / "out"
    with pytest.raises(Killed):
        write(elmo, corpus, out, progress=killed_after_one)
    with pytest.raises(InputError, match="out: incomplete"):
        ElmoVectors(out)
    killed_while_writing(out / "part-00001.parquet")
    kept = (out / "part-00000.parquet").stat().st_ino
    done = write(elmo, corpus, out)
    assert (done["sentences"], done["tokens"]) == (14, 54)
    assert (out / "part-00000.parquet").stat().st_ino == kept
    assert parts(out) == parts(tmp_path / "whole")
    assert {path.name for path in out.iterdir()} == {
        *parts(out),
        "_manifest.json",
        "_SUCCESS",
        LOCK,
    }


def test_one_changed_byte_changes_no_vector(
    elmo: Elmo, corpus: list[str], tmp_path: Path
) -> None:
    """
    Wherever it is: reading is an error, or gives the same, as with a byte of the
    table's description that means nothing.
    """
    out = tmp_path / "out"
    write(elmo, corpus, out, count=2)
    part = out / "part-00000.parquet"
    content = part.read_bytes()
    expected = list(ElmoVectors(out)[:7])
    refused = 0
    for place in range(4, len(content), len(content) // 40):
        changed = bytearray(content)
        changed[place] ^= 0x20
        part.write_bytes(changed)
        try:
            found = list(ElmoVectors(out)[:7])
        except InputError:
            refused += 1
            continue
        for one, other in zip(found, expected, strict=True):
            assert np.array_equal(one, other), place
    assert refused > 20


def swap(one: Path, other: Path) -> None:
    kept = one.rename(one.with_suffix(".kept"))
    other.rename(one)
    kept.rename(other)


@pytest.mark.parametrize("of", ["another model", "the same call"])
def test_a_swapped_shard_is_not_believed(
    of: str, elmo: Elmo, corpus: list[str], tmp_path: Path
) -> None:
    """Its text and its model have the same sizes."""
    out, other = tmp_path / "out", tmp_path / "other"
    write(elmo, corpus, out, count=2)
    swapped = out / "part-00001.parquet"
    if of == "another model":
        another = Elmo.from_files(*write_bilm(tmp_path / "another", seed=9))
        another.sizes = elmo.sizes
        write(another, corpus, other, count=2)
        swapped = other / "part-00000.parquet"
    swap(out / "part-00000.parquet", swapped)
    with pytest.raises(InputError, match="part-00000.parquet: .*another text or model"):
        ElmoVectors(out)[0]
    with pytest.raises(InputError, match="part-00000.parquet: .*another text or model"):
        write(elmo, corpus, out, count=2)
    for part in out.glob("part-*"):
        part.unlink()
    write(elmo, corpus, out, count=2)
    assert np.allclose(ElmoVectors(out)[0], elmo.embed(LINES[:1])[0], atol=1e-6)


def kill_children(tokens: int) -> None:
    for child in multiprocessing.active_children():
        child.kill()
        child.join()


@pytest.mark.slow
def test_worker_processes_write_the_same_bytes(
    elmo: Elmo, corpus: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    write(elmo, corpus, tmp_path / "whole", count=12)
    with (
        pytest.raises(WorkerLost, match="a worker process was killed"),
        processes(2) as two,
    ):
        write(elmo, corpus, out, count=12, executor=two, progress=kill_children)
    with processes(2) as two:
        write(elmo, corpus, out, count=12, executor=two)
    assert parts(tmp_path / "out") == parts(tmp_path / "whole")


def test_a_file_in_the_place_of_the_folder(
    elmo: Elmo, corpus: list[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(
        InputError, match="/file: expected a folder for the shards, got a file"
    ):
        write(elmo, corpus, tmp_path / "file")
    with pytest.raises(InputError, match="/file/out: cannot write: Not a directory"):
        write(elmo, corpus, tmp_path / "file" / "out")
    assert (tmp_path / "file").read_text() == "kept"


class Failing(ThreadPoolExecutor):
    """One worker, whose first call fails; it takes its time for each."""

    def __init__(self) -> None:
        super().__init__(1)
        self.called = 0

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Any:
        return super().submit(self._fail)

    def _fail(self) -> None:
        self.called += 1
        time.sleep(0.2)
        raise InputError("no space left")


def test_no_shard_is_begun_after_one_has_failed(
    elmo: Elmo, corpus: list[str], tmp_path: Path
) -> None:
    """The executor is the caller's, who may go on with it."""
    with Failing() as executor:
        with pytest.raises(InputError, match="no space left"):
            write(elmo, corpus, tmp_path / "out", count=6, executor=executor)
        # Waits for its turn, after all that was not cancelled.
        last = executor.submit(print)
        with pytest.raises(InputError):
            last.result()
        assert executor.called <= 3  # the one that failed, the next, and this one


def test_a_folder_of_another_call(
    elmo: Elmo, corpus: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    write(elmo, corpus, out)
    before = parts(out)
    for files, changes, message in (
        (corpus, {"count": 3}, "shards was 4, is 3"),
        (corpus[:1], {}, "sentences was 14, is 7"),
        (corpus[::-1], {}, "text_sha256 was"),
    ):
        with pytest.raises(
            InputError,
            match=f"_manifest.json: was written with other settings: .*{message}",
        ):
            write(elmo, files, out, **changes)
    assert parts(out) == before and len(ElmoVectors(out)) == 14
    write(elmo, corpus, out, count=2, force=True)
    assert len(parts(out)) == 2


def test_a_worker_that_differs(elmo: Elmo, corpus: list[str], tmp_path: Path) -> None:
    job = ShardJob(elmo=elmo, folder=tmp_path / "out")
    (shard, *_), _ = plan(corpus, 3, "tokens")
    with pytest.raises(
        InputError, match="/out: the worker on .* cannot find this folder"
    ):
        write_shard(pickle.dumps(job), shard)
    write(elmo, corpus, job.folder, count=3)
    (job.folder / "part-00000.parquet").unlink()
    Path(corpus[0]).write_text("other lines\n" * 9)
    with pytest.raises(InputError, match="a.txt.gz: the text has changed"):
        write_shard(pickle.dumps(job), shard)
    _opened.cache_clear()
    manifest = job.folder / "_manifest.json"
    manifest.write_text(manifest.read_text().replace('"torch": "', '"torch": "0'))
    with pytest.raises(InputError, match="the worker on .* differs: .*torch was '0"):
        write_shard(pickle.dumps(job), shard)
    assert not (job.folder / "part-00000.parquet").exists()


def test_invalid_input(elmo: Elmo, corpus: list[str], tmp_path: Path) -> None:
    texts = {"json": '["a"]\n[1]\n', "empty": ""}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    parquet.write_table(
        pyarrow.table({"tokens": [["a"], [None]], "ids": [1, 2]}),
        tmp_path / "null.parquet",
    )
    (tmp_path / "damaged.parquet").write_bytes(Path(corpus[1]).read_bytes()[:-9])
    for name, column, message in (
        ("json", "tokens", "json:2: expected a JSON list of tokens"),
        ("empty", "tokens", "expected at least one sentence, got none"),
        (
            "null.parquet",
            "tokens",
            r"null.parquet:2: expected a string or a list of strings in 'tokens', got \[None\]",
        ),
        ("damaged.parquet", "tokens", "damaged.parquet:1: cannot read the table"),
    ):
        with pytest.raises(InputError, match=message):
            write(
                elmo,
                [str(tmp_path / name)],
                tmp_path / "out" / name,
                count=1,
                input_format="json",
                column=column,
            )
    assert not list(tmp_path.glob("out/*/part-*"))
    with pytest.raises(InputError, match="nothing matches"):
        list_files(str(tmp_path / "o*"))


def test_the_input_is_never_removed(
    elmo: Elmo, corpus: list[str], tmp_path: Path
) -> None:
    write(elmo, corpus, tmp_path / "out")
    before = parts(tmp_path / "out")
    with pytest.raises(InputError, match="expected the shards in another folder"):
        write(
            elmo,
            sorted(map(str, (tmp_path / "out").glob("part-*"))),
            tmp_path / "out",
            force=True,
        )
    assert parts(tmp_path / "out") == before


def test_two_calls_on_one_folder(elmo: Elmo, corpus: list[str], tmp_path: Path) -> None:
    """The second is an error, also one that would remove the shards of the first."""
    out, begun = tmp_path / "out", tmp_path / "begun"
    ended = tmp_path / "ended"
    write(elmo, corpus, tmp_path / "whole", count=4)

    def slow(tokens: int) -> None:
        begun.touch()
        while not ended.exists():
            time.sleep(0.01)

    first = fork(lambda: write(elmo, corpus, out, count=4, progress=slow))
    while not begun.exists():
        time.sleep(0.01)
    for options in ({}, {"count": 2, "force": True}):
        with pytest.raises(
            InputError, match=r"^\S+out: expected a folder that no other"
        ):
            write(elmo, corpus, out, **{"count": 4, **options})
    ended.touch()
    assert status_of(first) == 0 and parts(out) == parts(tmp_path / "whole")
    assert (out / "_SUCCESS").exists()


def test_temporary_file_of_a_living_call_stays(
    elmo: Elmo, corpus: list[str], tmp_path: Path
) -> None:
    """As one of another machine, where the file system has no locks."""
    write(elmo, corpus, tmp_path / "out")
    with writing(tmp_path / "out" / "part-00001.parquet") as aside:
        write(elmo, corpus, tmp_path / "out", count=2, force=True)
        assert aside.exists()


OTHERS = ("part-00000-1c2d.snappy.parquet", "part-mine.parquet", "part-1.parquet")
OTHERS += ("notes.txt", "part-00000.parquet.old")


def test_force_removes_shards_and_no_other_file(
    elmo: Elmo, corpus: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    write(elmo, corpus, out)
    for name in OTHERS:
        (out / name).write_text(name)
    write(elmo, corpus, out, count=2, force=True)
    assert [(out / name).read_text() for name in OTHERS] == list(OTHERS)
    assert {*OTHERS} < {path.name for path in out.iterdir()}


@pytest.mark.parametrize(
    "manifest", [None, "{}", "[", '{"format": "spark", "settings": {}}']
)
def test_force_in_a_folder_of_something_else(
    manifest: str | None, elmo: Elmo, corpus: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in ("part-00000.parquet", "_SUCCESS"):
        (out / name).write_text(name)
    if manifest is not None:
        (out / "_manifest.json").write_text(manifest)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(InputError, match="expected an empty folder|cannot be read"):
        write(elmo, corpus, out, force=True)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
