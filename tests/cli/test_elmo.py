"""`elmo-tasks elmo`: what the user types, reads and gets."""

import gzip
import os
from functools import partial
from pathlib import Path

import h5py
import pytest

from elmo_tasks.elmo import ElmoVectors
from elmo_tasks.elmo.models.files import resolve
from elmo_tasks.errors import InputError
from elmo_tasks.system.files import file_sha256
from tests.elmo.samples import write_bilm
from tests.test_flow import elmo_tasks

elmo = partial(elmo_tasks, "elmo")

TEXT = "The harbour froze over.\n\none two three four five six\n"


@pytest.fixture
def bilm(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "bilm").mkdir()
    options_file, weight_file = write_bilm(tmp_path / "bilm")
    return "--model", f"{options_file}+{weight_file}"


def weights_of(bilm: tuple[str, ...]) -> str:
    """The path of the weights in `--model OPTIONS.json+WEIGHTS.hdf5`."""
    return bilm[1].partition("+")[2]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "in.txt").write_text(TEXT)
    return tmp_path / "in.txt"


def test_output_and_file(
    bilm: tuple[str, ...],
    text: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    out = Path("all")
    out.touch()
    elmo(text, out, *bilm, "--force", "--max-length", 4, "--overlap", 2)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "3 sentences, 10 tokens",
        "1 lines have no tokens: their datasets are empty",
        "1 lines of more than 4 tokens are split into overlapping windows",
    ]
    assert lines[3] == f"{out}: {out.stat().st_size:,} bytes"
    with ElmoVectors(out) as vectors:
        for index, line in enumerate(TEXT.splitlines()):
            assert vectors.tokens(index) == line.split()
        expected = {
            "model_sha256": resolve(bilm[1]).sha256,
            "text_sha256": file_sha256(text),
            "tokenizer": "white space",
            "input": str(text),
        }
        assert expected.items() <= vectors.info.items()
        assert "vocabulary_sha256" not in vectors.info
    elmo(text, tmp_path / "bundled.hdf5", "--model", "bundled")
    with ElmoVectors(tmp_path / "bundled.hdf5") as vectors:
        assert "vocabulary_sha256" in vectors.info


def test_raw_text_and_gzip(bilm: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(gzip.compress(b"He can't."))
    for name, expected in (
        ("whitespace", ["He", "can't."]),
        ("basic", ["He", "ca", "n't", "."]),
    ):
        elmo(tmp_path / "in", tmp_path / name, *bilm, "--tokenizer", name)
        assert ElmoVectors(tmp_path / name).tokens(0) == expected


def test_invalid_arguments(bilm: tuple[str, ...], text: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    weights = weights_of(bilm)
    archive = tmp_path / "bilm" / "model.tar.gz"
    archive.touch()
    with pytest.raises(InputError, match="OPTIONS.json.WEIGHTS.hdf5, got one file"):
        elmo(text, out, "--model", weights)
    for file, options, message in (
        (out, ("--device", "cuda:99"), "device: expected auto or cpu"),
        (out, ("--overlap", 300), "overlap: expected .* got 300"),
        (text, ("--force",), "in.txt: "),
        (archive, ("--mix", archive, "--force"), "would overwrite an input file"),
        (os.devnull, ("--force",), f"{os.devnull}: "),
        (out, ("--column", "words"), "in.txt: expected a table "),
    ):
        with pytest.raises(InputError, match=message):
            elmo(text, file, *bilm, *options)
    assert text.read_text() == TEXT
    assert sorted(os.listdir(tmp_path)) == ["bilm", "in.txt"]


def test_vectors_that_overflow(
    bilm: tuple[str, ...], text: Path, tmp_path: Path
) -> None:
    with h5py.File(weights_of(bilm), "r+") as weights:
        weights["CNN_proj/W_proj"][:] = 3e38
    with pytest.raises(
        InputError,
        match=f"^{weights_of(bilm)}: .*in.txt:1: expected finite vectors, got infinity or NaN",
    ):
        elmo(text, tmp_path / "out", *bilm)
    assert not (tmp_path / "out").exists()
