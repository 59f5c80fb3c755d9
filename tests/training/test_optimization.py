import pytest
import torch
from allennlp.common import Params
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from allennlp.training.moving_average import MovingAverage


def test_reduce_on_plateau() -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    config = {
        "type": "reduce_on_plateau",
        "mode": "max",
        "factor": 0.5,
        "patience": 0,
        "verbose": True,
    }
    schedule = LearningRateScheduler.from_params(Params(config), optimizer=optimizer)
    for metric in (0.3, 0.2, 0.4, 0.1):
        schedule.step(metric)
    assert schedule.get_values() == [0.25]


@pytest.mark.parametrize(
    ("name", "second"),
    [("exponential", 1 - 2 / 11 * 3 / 12), ("elmo_tasks_exponential", 0.19)],
)
def test_resumed_average_follows_the_model(name: str, second: float) -> None:
    live = torch.nn.Parameter(torch.zeros(1))
    made = [
        MovingAverage.from_params(
            Params({"type": name, "decay": 0.9}), parameters=[("w", live)]
        )
        for _ in "ab"
    ]
    live.data.fill_(1.0)
    made[0].apply(1)
    made[1].load_state_dict(
        {key: dict(value) for key, value in made[0].state_dict().items()}
    )
    made[1].apply(2)
    made[1].assign_average_value()
    assert live.item() == pytest.approx(second)
    made[1].restore()
    assert live.item() == 1.0
