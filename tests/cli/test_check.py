"""`elmo-tasks check`: output and exit status."""

import json

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
    assert places == ["ner.jsonnet", "  trainer.num_epoch", "sst.jsonnet", "  trainer.num_epoch"]
    assert lines[0].endswith(": 1 problem")
