"""Scale mini on the synthetic corpus; each config is evaluated once."""

import copy
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks import resources
from elmo_tasks.experiments.tables import runs
from tests.tables.tables import CONFIGS

_read: dict[tuple[str, Path], dict[str, Any]] = {}


@pytest.fixture(autouse=True)
def no_data_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(resources.DATA_VARIABLE, raising=False)


@pytest.fixture(autouse=True)
def evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cache the project's configs, but not those that a test writes."""
    read = runs.read_config

    def once(path: Path) -> dict[str, Any]:
        if CONFIGS not in path.resolve().parents:
            return read(path)
        key = (str(resources.data_root()), path.resolve())
        if key not in _read:
            _read[key] = read(path)
        return copy.deepcopy(_read[key])

    monkeypatch.setattr(runs, "read_config", once)
