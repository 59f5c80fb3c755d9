"""The generators of a process go on together."""

import io
import random

import numpy
import torch

from elmo_tasks.training.rng_state import random_state, set_random_state


def draw() -> list[float]:
    """From every generator; a normal number of Python's and of NumPy's leaves a second one behind."""
    return [random.random(), random.gauss(0, 1), numpy.random.rand(), numpy.random.randn(), torch.rand(1).item()]


def test_every_generator_goes_on_after_a_checkpoint() -> None:
    draw()
    saved = io.BytesIO()
    torch.save(random_state(), saved)
    wanted = [draw(), draw()]
    saved.seek(0)
    set_random_state(torch.load(saved, weights_only=True))
    assert [draw(), draw()] == wanted
    assert wanted[0] != wanted[1]
