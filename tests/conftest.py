"""Loads the plugin, as `allennlp` does, and seeds every test."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from allennlp.data import Instance
from allennlp.models import Model

import elmo_tasks.plugin  # noqa: F401 (importing it is what registers our names)
from elmo_tasks.resources import DATA_VARIABLE
from tests.models import Build, corpus, make_model
from tests.tiny import heard, write_data_root


@pytest.fixture(autouse=True)
def fixed_seeds() -> None:
    random.seed(1)
    numpy.random.seed(1)
    torch.manual_seed(1)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with a few sentences in each file."""
    return write_data_root(tmp_path_factory.mktemp("data"))


@pytest.fixture
def configs(monkeypatch: pytest.MonkeyPatch, root: Path) -> Path:
    """A copy of `training_config` whose configs read `root`, at every scale."""
    monkeypatch.setenv(DATA_VARIABLE, str(root))
    return root / "training_config"


@pytest.fixture
def heard_counts(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """For tests/<task>/test_reader.py: `caplog` gets the messages of that task's reader."""
    with heard(caplog, f"elmo_tasks.tasks.{request.module.__name__.split('.')[1]}.reader"):
        yield


@pytest.fixture
def build(request: pytest.FixtureRequest, tmp_path: Path) -> Build:
    """For tests/<task>/: a tiny model of that task, by default with the vocabulary of its sample."""
    task = request.module.__name__.split(".")[1]

    def make(elmo: dict[str, Any] | None = None, given: list[Instance] | None = None, **keys: Any) -> Model:
        return make_model(task, given or corpus(task), tmp_path, elmo, **keys)

    return make
