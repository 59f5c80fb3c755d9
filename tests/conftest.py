"""Loads the plugin, as `allennlp` does, and seeds every test."""

import logging
import random
from collections.abc import Iterator

import numpy
import pytest
import torch

import elmo_tasks.plugin  # noqa: F401 (importing it is what registers our names)


@pytest.fixture(autouse=True)
def fixed_seeds() -> None:
    random.seed(1)
    numpy.random.seed(1)
    torch.manual_seed(1)


@pytest.fixture
def heard_counts(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """
    For tests/<task>/test_reader.py: `caplog` gets the messages of that task's reader, even if AllenNLP has turned
    propagation off.
    """
    logger = logging.getLogger(f"elmo_tasks.{request.module.__name__.split('.')[1]}.reader")
    logger.addHandler(caplog.handler)
    caplog.set_level(logging.INFO, logger=logger.name)
    yield
    logger.removeHandler(caplog.handler)
