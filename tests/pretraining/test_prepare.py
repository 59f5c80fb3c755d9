"""Corpora in each format become the same text; held-out blocks; invalid corpora."""

import gzip
import json
from pathlib import Path

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.prepare import BLOCK, prepare

TEXTS = ["Gallia est omnis divisa. Incolunt Belgae!", "Aquitani tertiam?\n\nEt cetera."]
SPLIT = [
    "Gallia est omnis divisa .",
    "Incolunt Belgae !",
    "Aquitani tertiam ?",
    "Et cetera .",
]


def text_of(folder: Path, split: str = "train") -> list[str]:
    """The lines of all files of a split."""
    return [
        line
        for file in sorted(folder.glob(f"{split}.*"))
        for line in gzip.decompress(file.read_bytes()).decode().splitlines()
    ]


def write(file: Path) -> Path:
    """`TEXTS` in the format that the suffix names."""
    lines = (
        [json.dumps({"id": 1, "body": text}) for text in TEXTS]
        if ".jsonl" in file.suffixes
        else TEXTS
    )
    raw = "".join(f"{line}\n" for line in lines).encode()
    if file.suffix == ".zst":
        raw = arrow.compress(raw, codec="zstd", asbytes=True)
    file.write_bytes(gzip.compress(raw) if file.suffix == ".gz" else raw)
    return file


@pytest.mark.parametrize(
    "name", ["a.txt", "a.txt.gz", "a.txt.zst", "a.jsonl", "a.jsonl.gz", "a.jsonl.zst"]
)
def test_text_and_json_lines(tmp_path: Path, name: str) -> None:
    prepare(
        [str(write(tmp_path / name))],
        tmp_path / "out",
        language="la",
        text_field="body",
    )
    assert text_of(tmp_path / "out") == SPLIT


def test_parquet_in_two_processes(tmp_path: Path) -> None:
    table = arrow.table({"body": TEXTS})
    (tmp_path / "corpus").mkdir()
    for name in ("a.parquet", "b.parquet"):
        parquet.write_table(table, tmp_path / "corpus" / name)
    prepare(
        [str(tmp_path / "corpus")],
        tmp_path / "out",
        language="la",
        text_field="body",
        heldout=0,
        workers=2,
    )
    assert text_of(tmp_path / "out") == SPLIT * 2
    with pytest.raises(InputError, match="a column 'text', got body"):
        prepare([str(tmp_path / "corpus")], tmp_path / "other")


def test_blocks_are_held_out_and_a_second_call_overwrites_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {n}\n" for n in range(5 * BLOCK)))
    prepare([str(tmp_path / "a.txt")], tmp_path / "out", heldout=3)
    held = text_of(tmp_path / "out", "heldout")
    assert held == [
        f"line {n}" for n in (*range(BLOCK, 2 * BLOCK), *range(4 * BLOCK, 5 * BLOCK))
    ]
    assert len(held) + len(text_of(tmp_path / "out")) == 5 * BLOCK
    with pytest.raises(
        InputError, match="out: the folder has files of a training text"
    ):
        prepare([str(tmp_path / "a.txt")], tmp_path / "out", heldout=3)


def test_one_short_file_in_n_is_held_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(4):
        (tmp_path / f"{number}.txt").write_text(f"text {number}\n")
    prepare([str(tmp_path)], tmp_path / "out", heldout=3)
    assert text_of(tmp_path / "out") == ["text 0", "text 2", "text 3"]
    assert text_of(tmp_path / "out", "heldout") == ["text 1"]
    prepare([str(tmp_path / "0.txt")], tmp_path / "none", heldout=3)
    assert "nothing is held out" in caplog.text


def test_lines_that_are_no_text_are_skipped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.txt").write_bytes(b"unus duo\n\xff\ntres\0\nquattuor\n")
    (tmp_path / "b.jsonl").write_text('{"text": "quinque\\u0000"}\n')
    prepare(
        [str(tmp_path / "a.txt"), str(tmp_path / "b.jsonl")],
        tmp_path / "out",
        heldout=0,
    )
    assert text_of(tmp_path / "out") == ["unus duo", "quattuor", "quinque"]
    assert "no text: 2, the first is" in caplog.text and "a.txt:2" in caplog.text


def test_invalid_corpora_leave_no_files(tmp_path: Path) -> None:
    cases = {
        "a.jsonl": (
            '{"body": 3}\n',
            ":1: expected 'text' to be|:1: expected a JSON object with 'text'",
        ),
        "b.txt": ("\n \n", "expected text, got none"),
        "e.txt.zst": (
            arrow.compress(b"text" * 99, codec="zstd", asbytes=True)[:-2],
            "Truncated compressed stream",
        ),
        "d.parquet": ("not a table", "cannot read the table"),
    }
    for number, (name, (text, problem)) in enumerate(cases.items()):
        (tmp_path / name).write_bytes(
            text if isinstance(text, bytes) else text.encode()
        )
        with pytest.raises(InputError, match=problem):
            prepare([str(tmp_path / name)], tmp_path / str(number))
        assert not list((tmp_path / str(number)).glob("*"))
    with pytest.raises(InputError, match="rules for, got 'zz'"):
        prepare([str(tmp_path / "b.txt")], tmp_path / "out", language="zz")
