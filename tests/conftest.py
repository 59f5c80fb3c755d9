"""Loads the plugin once, as `allennlp` does, and starts every test from the same seeds."""

import random

import numpy
import pytest
import torch

import elmo_tasks.plugin  # noqa: F401 (importing it is what registers our names)


@pytest.fixture(autouse=True)
def fixed_seeds() -> None:
    random.seed(1)
    numpy.random.seed(1)
    torch.manual_seed(1)
