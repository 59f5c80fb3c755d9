"""`elmo-tasks check`: output and exit status."""

import json
from pathlib import Path

import pytest

from elmo_tasks import settings
from tests.test_configs import FOLDER
from tests.test_flow import elmo_tasks
from tests.tiny import write_data_root


@pytest.fixture(autouse=True)
def mini(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(settings.SCALE_VARIABLE, "mini")
    root = write_data_root(tmp_path)
    for name in (settings.DATA_VARIABLE, settings.FIXTURES_VARIABLE):
        monkeypatch.setenv(name, str(root))


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
