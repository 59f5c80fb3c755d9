"""Scale and data root: defaults, checks, and what child processes inherit."""

import logging
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
        monkeypatch.setenv(name, "so that it is restored")
        monkeypatch.delenv(name)


def values(monkeypatch: pytest.MonkeyPatch, **given: str) -> tuple[str, ...]:
    for name, value in given.items():
        monkeypatch.setenv(f"ELMO_TASKS_{name}", value)
    settings.apply_defaults()
    return tuple(settings.os.environ[name] for name in VARIABLES)


def test_defaults_are_the_embedded_miniworld(monkeypatch: pytest.MonkeyPatch) -> None:
    fixtures = ROOT / "fixtures"
    assert values(monkeypatch) == ("mini", str(fixtures / "miniworld"), str(fixtures))


def test_a_relative_root_becomes_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert values(monkeypatch, SCALE="small", DATA="corpora")[:2] == (
        "small",
        str(tmp_path / "corpora"),
    )


def test_home_is_expanded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert values(monkeypatch, DATA="~/corpora")[1] == str(tmp_path / "corpora")


@pytest.mark.parametrize("scale", ["small", "paper"])
def test_an_unset_root_stays_empty_above_mini(monkeypatch: pytest.MonkeyPatch, scale: str) -> None:
    assert values(monkeypatch, SCALE=scale)[1] == ""
    assert settings.data_root() is None


def test_a_default_is_no_choice_for_a_child_process(monkeypatch: pytest.MonkeyPatch) -> None:
    settings.apply_defaults()
    assert values(monkeypatch, SCALE="small")[1] == ""


def test_the_miniworld_may_be_chosen_at_any_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    root = str(ROOT / "fixtures" / "miniworld")
    assert values(monkeypatch, SCALE="small", DATA=root)[1] == root
    settings.apply_defaults()
    assert settings.os.environ["ELMO_TASKS_DATA"] == root


def test_an_unknown_scale_lists_the_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMO_TASKS_SCALE", "huge")
    with pytest.raises(InputError, match="must be one of mini, small, paper, not 'huge'"):
        settings.scale()


def test_an_unknown_scale_is_left_to_the_configs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert values(monkeypatch, SCALE="huge")[:2] == ("huge", "")
    with pytest.raises(RuntimeError, match='ELMO_TASKS_SCALE must be one of mini, small, paper, not "huge"'):
        Params.from_file(ROOT / "training_config" / "ner.jsonnet")


def test_fixtures_come_from_the_wheel_where_there_is_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(settings, "__file__", str(tmp_path / "elmo_tasks" / "settings.py"))
    assert settings.fixtures_root() == tmp_path / "fixtures"
    (tmp_path / "elmo_tasks" / "_fixtures").mkdir(parents=True)
    assert settings.fixtures_root() == tmp_path / "elmo_tasks" / "_fixtures"


def test_announce_names_scale_and_data(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    values(monkeypatch, SCALE="paper", DATA="/corpora")
    with caplog.at_level(logging.INFO, logger="elmo_tasks"):
        settings.announce()
    assert caplog.messages == [
        "scale: paper (ELMO_TASKS_SCALE)",
        "data root: /corpora (ELMO_TASKS_DATA)",
    ]


def test_worker_processes_announce_nothing(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(settings.multiprocessing, "parent_process", lambda: object())
    with caplog.at_level(logging.INFO, logger="elmo_tasks"):
        settings.announce()
    assert caplog.messages == []
