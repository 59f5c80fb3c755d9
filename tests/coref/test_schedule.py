"""The staircase of the learning rate."""

import pytest
import torch
from allennlp.training.learning_rate_schedulers import LearningRateScheduler

from elmo_tasks.coref.schedule import Staircase
from elmo_tasks.errors import InputError


def optimizer() -> torch.optim.Optimizer:
    return torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))], lr=0.8)


def test_each_step_comes_after_so_many_updates() -> None:
    adam = optimizer()
    schedule = Staircase(adam, factor=0.5, every=3)
    rates = []
    for update in range(1, 8):
        schedule.step_batch(update)
        rates.append(adam.param_groups[0]["lr"])
        schedule.step(0.3)  # the end of an epoch changes nothing
        assert adam.param_groups[0]["lr"] == rates[-1]
    assert rates == [0.8, 0.8, 0.8, 0.4, 0.4, 0.4, 0.2]


def test_it_goes_on_from_its_state() -> None:
    first, second = Staircase(optimizer(), factor=0.5, every=3), Staircase(optimizer(), factor=0.5, every=3)
    first.step_batch(7)
    second.load_state_dict(first.state_dict())
    assert second.get_values() == [0.2]
    assert LearningRateScheduler.by_name("elmo_tasks_staircase") is Staircase


def test_bad_values() -> None:
    with pytest.raises(InputError, match="factor must be above 0 and at most 1, found 1.5"):
        Staircase(optimizer(), factor=1.5, every=3)
    with pytest.raises(InputError, match="every must be a whole number of at least 1, found 0"):
        Staircase(optimizer(), factor=0.5, every=0)
