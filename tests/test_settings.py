"""Scale and data root: defaults, errors, and what child processes inherit."""

from pathlib import Path

import pytest
from allennlp.common import Params

from elmo_tasks import settings
from elmo_tasks.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
VARIABLES = ("ELMO_TASKS_SCALE", "ELMO_TASKS_DATA", "ELMO_TASKS_FIXTURES")


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, settings.DEFAULT_VARIABLE):
        monkeypatch.setenv(name, "restored afterwards")
        monkeypatch.delenv(name)


def values(monkeypatch: pytest.MonkeyPatch, **given: str) -> tuple[str, ...]:
    for name, value in given.items():
        monkeypatch.setenv(f"ELMO_TASKS_{name}", value)
    settings.apply_defaults()
    return tuple(settings.os.environ[name] for name in VARIABLES)


def test_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    fixtures = ROOT / "fixtures"
    assert values(monkeypatch) == ("mini", str(fixtures / "miniworld"), str(fixtures))


def test_data_root_becomes_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert values(monkeypatch, SCALE="small", DATA="~/corpora")[:2] == ("small", str(tmp_path / "corpora"))
    monkeypatch.chdir(tmp_path)
    assert values(monkeypatch, DATA="here")[1] == str(tmp_path / "here")


def test_no_default_data_root_above_mini(monkeypatch: pytest.MonkeyPatch) -> None:
    settings.apply_defaults()  # in a parent process
    assert values(monkeypatch, SCALE="small")[1] == ""
    assert settings.data_root() is None


def test_unknown_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    assert values(monkeypatch, SCALE="huge")[:2] == ("huge", "")
    with pytest.raises(InputError, match="expected one of mini, small, paper, got 'huge'"):
        settings.scale()
    with pytest.raises(RuntimeError, match='ELMO_TASKS_SCALE must be one of mini, small, paper, not "huge"'):
        Params.from_file(ROOT / "training_config" / "ner.jsonnet")


def test_commands_read_the_bilm_of_the_scale(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    released = tmp_path / "bilm/elmo_2x4096_512_2048cnn_2xhighway_weights.hdf5"
    released.parent.mkdir()
    released.touch()
    monkeypatch.setenv(settings.DATA_VARIABLE, str(tmp_path))
    monkeypatch.setenv(settings.SCALE_VARIABLE, "paper")
    assert settings.bilm_files() == (str(tmp_path / "bilm/options.json"), str(released))
    monkeypatch.setenv(settings.SCALE_VARIABLE, "small")
    assert settings.bilm_files()[0] == str(settings.fixtures_root() / "bilm/options.json")
