"""`elmo-tasks probe`: arguments, printed tables and JSON."""

import re
from functools import partial
from pathlib import Path

import pytest

from elmo_tasks.cli import probe_tables
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes import pos
from tests.elmo.samples import write_bilm
from tests.probes.samples import SEMCOR, WSD
from tests.test_flow import elmo_tasks
from tests.tiny import FIXTURES, write_vectors

probe = partial(elmo_tasks, "probe")

POS = FIXTURES / "pos"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    options_file, weight_file = write_bilm(tmp_path_factory.mktemp("bilm"))
    return ["--options-file", options_file, "--weight-file", weight_file]


def rows(shown: str) -> dict[str, list[str]]:
    """The cells of each line by its first cell, such as `biLM 1`."""
    cells = [line.split("  ") for line in shown.splitlines()]
    return {first: [cell.strip() for cell in rest if cell] for first, *rest in cells}


def test_wsd(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    probe("wsd", WSD, *files)
    printed = capsys.readouterr().out
    assert "SemEval-2013 and -2015, with the released biLM: other data\n" in printed
    shown = rows(printed)
    assert shown["F1"] == ["harbour", "market", "all", "P", "R", "paper*"]
    assert shown["instances"] == ["8", "7", "15"]
    assert shown["first sense"] == ["75.0", "61.5", "69.0", "71.4", "66.7", "65.9"]
    assert [shown[f"biLM {layer}"][-1] for layer in range(3)] == ["-", "67.4", "69.0"]
    assert "15 sense vectors" in printed and "for 4 targets of other lemmas, no answer for 1\n" in printed


def test_pos(
    tmp_path: Path, files: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (pos, probe_tables):
        monkeypatch.setattr(module, "MAX_STEPS", 2)
    probe("pos", POS / "train.conllu", POS / "dev.conllu", *files)
    shown = rows(capsys.readouterr().out)
    assert shown["accuracy"] == ["all", "seen words", "unseen words", "paper*", "steps"]
    assert shown["tokens"] == ["34", "22", "12"]
    assert [shown[f"biLM {layer}"][3] for layer in range(3)] == ["-", "97.3", "96.8"]
    assert shown["biLM 1"][-1] == "2, not converged"


def test_neighbors(tmp_path: Path, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    vectors = write_vectors(tmp_path / "vectors.txt.gz", ["play", "game", "sea"], width=3)
    common = ["--corpus", SEMCOR, *files]
    more = ["--occurrence", 5, "--vectors", vectors, "--top", 2]
    probe("neighbors", "play", *common, *more)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "source: (5) A fast [play] by the second baseman ended the inning ."
    assert lines[2] == "biLM 2, nearest by cosine:" and lines[6] == f"{vectors}:"
    assert all(re.match(r"  0\.\d{3}  \(\d\) .*\[play\]", line) for line in lines[3:5])
    assert {word for word in lines[7].split() if word.isalpha()} == {"game", "sea"}


def test_invalid_arguments(tmp_path: Path, files: list[str]) -> None:
    vectors = write_vectors(tmp_path / "vectors.txt", ["play"], width=3)
    neighbors = ["neighbors", "play", "--corpus", SEMCOR, "--vectors", vectors, *files]
    for arguments, message in (
        (["wsd", tmp_path, *files], r"SemCor/semcor\.data\.xml"),
        ([*neighbors, "--top", 0], "top: .*0"),
    ):
        with pytest.raises(InputError, match=message):
            probe(*arguments)
