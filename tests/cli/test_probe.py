"""`elmo-tasks probe`: arguments and a printed table."""

from functools import partial
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from tests.elmo.samples import write_bilm
from tests.probes.samples import SEMCOR, WSD
from tests.test_flow import elmo_tasks
from tests.tiny import FIXTURES, write_vectors

probe = partial(elmo_tasks, "probe")

POS = FIXTURES / "pos" / "dev.conllu"


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
    assert (
        "15 sense vectors" in printed
        and "for 4 targets of other lemmas, no answer for 1\n" in printed
    )


def test_invalid_arguments(tmp_path: Path, files: list[str]) -> None:
    vectors = write_vectors(tmp_path / "vectors.txt", ["play"], width=3)
    neighbors = ["neighbors", "play", "--corpus", SEMCOR, "--vectors", vectors, *files]
    for arguments, message in (
        (["wsd", tmp_path, *files], r"SemCor/semcor\.data\.xml"),
        (["pos", POS, POS, *files], "expected another file"),
    ):
        with pytest.raises(InputError, match=message):
            probe(*arguments)
    with pytest.raises(SystemExit, match="2"):
        probe(*neighbors, "--top", 0)
