"""`elmo-tasks predict`: order, invalid lines and options, atomic output, memory."""

import gzip
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.util import JsonDict

from elmo_tasks.cli.running.line_predictions import write_predictions
from elmo_tasks.errors import InputError
from elmo_tasks.tasks.predictor import JsonLinesPredictor
from tests.test_flow import elmo_tasks


class Doubling(JsonLinesPredictor):
    """Doubles a number, except -1."""

    def __init__(self) -> None:
        pass

    def predict_json(self, inputs: JsonDict) -> JsonDict:
        return self.predict_batch_json([inputs])[0]

    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        for one in inputs:
            if one["n"] == -1:
                raise InputError("-1 was found")
        return [{"twice": 2 * one["n"]} for one in inputs]


def run(
    lines: bytes, tmp_path: Path, *, batch_size: int
) -> tuple[list[Any], str | None]:
    """The lines of the output, and the error at the end."""
    read, written = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    read.write_bytes(lines)
    error = None
    try:
        write_predictions(Doubling(), str(read), str(written), batch_size=batch_size)
    except InputError as raised:
        error = str(raised)
    return [json.loads(line) for line in written.read_text().splitlines()], error


@pytest.mark.parametrize("batch_size", [1, 3])
def test_invalid_lines(batch_size: int, tmp_path: Path) -> None:
    lines = [
        b'{"n": 1}',
        b"",
        b"  ",
        b"{n",
        b'{"n": 2}',
        b'{"n": -1}',
        b'{"n": "\xff"}',
        b'{"m": 1}',
        b'{"n": 3}',
    ]
    found, error = run(b"\n".join(lines), tmp_path, batch_size=batch_size)
    assert [one.get("twice", one.get("line")) for one in found] == [2, 4, 4, 6, 7, 8, 6]
    assert found[0] == {"twice": 2} and found[-1] == {"twice": 6}
    errors = [one["error"] for one in found if "error" in one]
    assert "JSON object" in errors[0] and errors[1] == "-1 was found"
    assert "0xff" in errors[2]
    assert re.fullmatch(r"KeyError: 'n' \(.*test_predict\.py:\d+\)", errors[3])
    assert error is not None and error.startswith("4 of the lines could not be used")


def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        sys,
        "stdin",
        io.TextIOWrapper(
            io.BufferedReader(io.BytesIO(b'\xef\xbb\xbf{"n": 4}\n{"n": 5}'))
        ),
    )
    write_predictions(Doubling(), "-", batch_size=8)
    assert capsys.readouterr().out == '{"twice": 8}\n{"twice": 10}\n'


def test_truncated_gzip_file(tmp_path: Path) -> None:
    whole = gzip.compress(
        b"".join(b'{"n": %d}\n' % number for number in range(100_000))
    )
    found, error = run(whole[: len(whole) // 2], tmp_path, batch_size=10)
    *sound, last = found
    assert len(sound) > 1000 and sound == [
        {"twice": 2 * number} for number in range(len(sound))
    ]
    assert last["line"] == len(found) and "gzip" in last["error"]
    assert error is not None and error.startswith("1 of the lines")


def test_invalid_options_and_missing_files_leave_the_files_unchanged(
    tmp_path: Path,
) -> None:
    read, written = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    for file in (read, written):
        file.write_text('{"n": 1}\n')
    for error, words, message in (
        (SystemExit, (read, "--batch-size", 0), "2"),
        (InputError, (read, "--output-file", read), "in.jsonl: "),
        (InputError, (tmp_path / "gone.jsonl", "--output-file", written), "gone.jsonl"),
        (FileNotFoundError, (read, "--output-file", written), "none.tar.gz"),
    ):
        with pytest.raises(error, match=message):
            elmo_tasks("predict", tmp_path / "none.tar.gz", *words)
    assert read.read_text() == written.read_text() == '{"n": 1}\n'
