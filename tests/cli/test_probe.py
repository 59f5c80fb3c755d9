"""`elmo-tasks probe`: arguments, printed tables and JSON."""

import json
import re
from functools import partial
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes.senses import key_file_of, read_keys
from elmo_tasks.experiments.probes.wsd import score
from tests.elmo.samples import write_bilm
from tests.probes.samples import SEMCOR, SETS, WSD
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


def test_wsd(tmp_path: Path, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    probe("wsd", WSD, "--output", tmp_path / "wsd.json", *files)
    printed = capsys.readouterr().out
    assert "SemEval-2013 and -2015, with the released biLM: other data\n" in printed
    shown = rows(printed)
    assert shown["F1"] == ["harbour", "market", "all", "P", "R", "paper*"]
    assert shown["instances"] == ["8", "7", "15"]
    assert shown["first sense"] == ["75.0", "61.5", "69.0", "71.4", "66.7", "65.9"]
    assert [shown[f"biLM {layer}"][-1] for layer in range(3)] == ["-", "67.4", "69.0"]
    found = json.loads((tmp_path / "wsd.json").read_text())
    for layer in range(3):
        scores = found["rows"][f"biLM {layer}"]
        assert [f"{scores[name]['f1']:.1f}" for name in ("harbour", "market", "all")] == shown[f"biLM {layer}"][:3]
    assert (found["senses"], found["first_sense_used"], found["unanswered"]) == (15, 4, 1)
    assert (found["train"], found["evaluated"]) == (str(SEMCOR), list(map(str, SETS)))
    assert found["weight_file"] == files[-1]


def test_answers_for_the_official_scorer(tmp_path: Path, files: list[str]) -> None:
    folder = tmp_path / "new" / "answers"
    probe("wsd", WSD, "--answers", folder, "--output", tmp_path / "wsd.json", *files)
    rows = json.loads((tmp_path / "wsd.json").read_text())["rows"]
    assert len(list(folder.iterdir())) == 4 * 3
    for row, scores in rows.items():
        name, both = f"{row.replace(' ', '-')}.key.txt", {}
        for file in SETS:
            of = file.name.removesuffix(".data.xml")
            answers = read_keys(folder / f"{of}.{name}")
            assert score(read_keys(key_file_of(file)), answers)._asdict() == scores[of]
            both |= {f"{of}.{id_}": keys for id_, keys in answers.items()}
        assert read_keys(folder / f"ALL.{name}") == both
    first = (folder / "market.first-sense.key.txt").read_text().partition("\n")[0]
    assert re.fullmatch(r"d000\.s000\.t000 light%\d:\d\d:\d\d::", first)


def test_pos(tmp_path: Path, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    probe("pos", POS / "train.conllu", POS / "dev.conllu", "--max-steps", 2, "--output", tmp_path / "pos.json", *files)
    shown = rows(capsys.readouterr().out)
    assert shown["accuracy"] == ["all", "seen words", "unseen words", "paper*", "steps"]
    assert shown["tokens"] == ["34", "22", "12"]
    assert [shown[f"biLM {layer}"][3] for layer in range(3)] == ["-", "97.3", "96.8"]
    assert shown["biLM 1"][-1] == "2, not converged"
    found = json.loads((tmp_path / "pos.json").read_text())["rows"]
    assert f"{found['biLM 2']['accuracy']:.1f}" == shown["biLM 2"][0]
    assert (found["biLM 2"]["steps"], found["biLM 2"]["converged"]) == (2, False)


def test_neighbors(tmp_path: Path, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    vectors = write_vectors(tmp_path / "vectors.txt.gz", ["play", "game", "sea"], width=3)
    common = ["--corpus", SEMCOR, *files]
    more = ["--occurrence", 5, "--vectors", vectors, "--top", 2, "--output", tmp_path / "near.json"]
    probe("neighbors", "play", *common, *more)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "source: (5) A fast [play] by the second baseman ended the inning ."
    assert lines[2] == "biLM 2, nearest by cosine:" and lines[6] == f"{vectors}:"
    found = json.loads((tmp_path / "near.json").read_text())
    assert [f"  {near['cosine']:.3f}  ({near['number']})" for near in found["neighbors"]] == [
        line.rsplit(")", 1)[0] + ")" for line in lines[3:5]
    ]
    assert {word for word, _ in found["static"]} == {"game", "sea"}
    probe("neighbors", "play", *common, "--sentence", "a play in three acts", "--top", 1)
    assert capsys.readouterr().out.startswith("source: a [play] in three acts\n")


def test_invalid_arguments_leave_no_output(tmp_path: Path, files: list[str]) -> None:
    vectors = write_vectors(tmp_path / "vectors.txt", ["play"], width=3)
    neighbors = ["neighbors", "play", "--corpus", SEMCOR, "--vectors", vectors, *files]
    pos = ["pos", POS / "train.conllu", POS / "dev.conllu"]
    for arguments, message in (
        (["wsd", tmp_path, *files], r"SemCor/semcor\.data\.xml"),
        (["wsd", WSD, "--evaluate", SEMCOR, *files], "train"),
        (["wsd", WSD, "--answers", vectors, *files], "vectors.txt"),
        ([*pos, "--options-file", "g.json"], "weight_file: expected"),
        ([*neighbors, "--cuda-device", 99], "--cuda-device 99: "),
        ([*neighbors, "--top", 0], "top: .*0"),
        ([*neighbors, "--output", tmp_path], str(tmp_path)),
        ([*neighbors, "--output", vectors], "vectors.txt"),
        ([*neighbors, "--output", files[1]], files[1]),
    ):
        with pytest.raises(InputError, match=message):
            probe(*arguments)
    assert list(tmp_path.iterdir()) == [vectors]
