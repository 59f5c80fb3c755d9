"""`elmo-tasks check`: output and exit status."""

import json
from pathlib import Path

import pytest

from tests.test_configs import FOLDER
from tests.test_flow import elmo_tasks


def check(*arguments: object) -> int | str | None:
    """The exit status."""
    with pytest.raises(SystemExit) as stopped:
        elmo_tasks("check", *arguments)
    return stopped.value.code


def test_several_configs_and_overrides(capsys: pytest.CaptureFixture[str]) -> None:
    overrides = json.dumps({"trainer.num_epoch": 3})
    assert check(FOLDER / "ner.jsonnet", FOLDER / "sst.jsonnet", "-o", overrides) == 1
    lines = capsys.readouterr().out.splitlines()
    assert check(FOLDER / "ner.jsonnet") == 0
    assert capsys.readouterr().out == f"{FOLDER}/ner.jsonnet: no problems\n"
    places = [line.split(":")[0].split("/")[-1] for line in lines]
    assert places == [
        "ner.jsonnet",
        "  trainer.num_epoch",
        "sst.jsonnet",
        "  trainer.num_epoch",
    ]
    assert lines[0].endswith(": 1 problem")


def test_unreadable_configs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "list").write_text("[1]")
    (tmp_path / "name").write_text("{a: b}")
    invalid = [tmp_path / "list", tmp_path / "name", tmp_path / "missing"]
    assert check(*invalid, FOLDER / "ner.jsonnet") == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition("/")[2] for line in lines[::2]] == [
        "list: unreadable",
        "name: unreadable",
        "missing: unreadable",
        "ner.jsonnet: no problems",
    ]
    assert "expected a JSON object, got [1]" in lines[1]
    assert "Unknown variable: b" in lines[3]
    assert check(FOLDER / "ner.jsonnet", "-o", "{bad") == 1
    assert "-o:" in capsys.readouterr().out
    assert check(FOLDER / "ner.jsonnet", "-o", '{"a": "\udce9"}') == 1
    assert "'utf-8' codec can't encode" in capsys.readouterr().out
