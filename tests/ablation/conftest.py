"""Scale mini on the synthetic corpus; each config is evaluated once."""

import copy
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks import settings
from elmo_tasks.ablation import runs
from tests.ablation.tables import CONFIGS

_read: dict[tuple[str, str, Path], dict[str, Any]] = {}


@pytest.fixture(autouse=True)
def mini(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (settings.SCALE_VARIABLE, settings.DATA_VARIABLE, settings.FIXTURES_VARIABLE):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv(settings.DEFAULT_VARIABLE, "")
    settings.apply_defaults()


@pytest.fixture(autouse=True)
def evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cache the project's configs, but not those that a test writes."""
    read = runs.read_config

    def once(path: Path) -> dict[str, Any]:
        if path.resolve().parent != CONFIGS:
            return read(path)
        key = (settings.scale(), str(settings.data_root()), path.resolve())
        if key not in _read:
            _read[key] = read(path)
        return copy.deepcopy(_read[key])

    monkeypatch.setattr(runs, "read_config", once)
