"""Saving and restoring the random number generators."""

import io
import random

import numpy
import torch

from elmo_tasks.training.rng_state import random_state, set_random_state


def draw() -> list[float]:
    """From every generator; those of Python and NumPy cache every second normal number."""
    return [random.random(), random.gauss(0, 1), numpy.random.rand(), numpy.random.randn(), torch.rand(1).item()]


def test_every_generator_is_restored() -> None:
    draw()
    saved = io.BytesIO()
    torch.save(random_state(), saved)
    expected = [draw(), draw()]
    saved.seek(0)
    set_random_state(torch.load(saved, weights_only=True))
    assert [draw(), draw()] == expected
    assert expected[0] != expected[1]
