"""Loads the plugin once, as `allennlp` does, and starts every test from the same seeds."""

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
    For tests/<task>/test_reader.py: `caplog` hears what that task's reader counts. AllenNLP may have turned propagation
    off, so that the root logger hears nothing.
    """
    logger = logging.getLogger(f"elmo_tasks.{request.module.__name__.split('.')[1]}.reader")
    logger.addHandler(caplog.handler)
    caplog.set_level(logging.INFO, logger=logger.name)
    yield
    logger.removeHandler(caplog.handler)
