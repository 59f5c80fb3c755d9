"""`elmo-tasks probe`: arguments and a printed table."""

from functools import partial
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from tests.elmo.samples import write_bilm
from tests.elmo.sources.cove_samples import write_cove
from tests.probes.samples import SEMCOR, WSD
from tests.test_flow import elmo_tasks
from tests.tiny import FIXTURES, write_vectors

probe = partial(elmo_tasks, "probe")

POS = FIXTURES / "pos" / "dev.conllu"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    options_file, weight_file = write_bilm(tmp_path_factory.mktemp("bilm"))
    return ["--model", f"{options_file}+{weight_file}"]


def rows(shown: str) -> dict[str, list[str]]:
    """The cells of each line by its first cell, such as `biLM 1`."""
    found = {}
    for line in shown.splitlines():
        if line.startswith("|"):
            _, first, *cells, _ = line.split("|")
            found[first.strip()] = [cell.strip() for cell in cells]
    return found


def test_wsd(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    probe("wsd", WSD, *files)
    printed = capsys.readouterr().out
    assert "SemEval-2013 and -2015, with the released biLM: other data\n" in printed
    shown = rows(printed)
    assert shown["F1"] == ["harbour", "market", "all", "P", "R", "paper*"]
    assert shown["instances"] == ["8", "7", "15", "", "", ""]
    assert shown["first sense"] == ["75.0", "61.5", "69.0", "71.4", "66.7", "65.9"]
    assert shown["biLM 0"][-1] == "-"
    assert shown["biLM 1"][-1] == "67.4"
    assert shown["biLM 2"][-1] == "69.0"
    assert "15 sense vectors" in printed
    assert "for 4 targets of other lemmas, no answer for 1\n" in printed


def test_cove(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = tmp_path / "short.conllu"
    first = POS.read_text("utf-8").split("\n\n")[0]
    short.write_text(f"{first}\n\n", "utf-8")
    probe("pos", POS, short, "--model", "+".join(write_cove(tmp_path)))
    shown = rows(capsys.readouterr().out)
    assert shown["CoVe 1"][3] == "93.3"
    assert shown["CoVe 2"][3] == "92.8"
    assert shown["CoVe 0"][3] == "-"


def test_invalid_arguments(tmp_path: Path, files: list[str]) -> None:
    vectors = write_vectors(tmp_path / "vectors.txt", ["play"], width=3)
    with pytest.raises(InputError, match=r"SemCor/semcor\.data\.xml"):
        probe("wsd", tmp_path, *files)
    with pytest.raises(InputError, match="expected another file"):
        probe("pos", POS, POS, *files)
    options = ["--corpus", SEMCOR, "--vectors", vectors, "--top", 0]
    with pytest.raises(SystemExit, match="2"):
        probe("neighbors", "play", *options, *files)
