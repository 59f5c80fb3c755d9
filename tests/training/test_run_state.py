"""The counts of half an epoch and carried states, restored in another model."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from allennlp.training.metrics import CategoricalAccuracy, Metric

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.errors import InputError
from elmo_tasks.tasks.coref.metric import CorefScores
from elmo_tasks.tasks.tagging.metric import EntityF1
from elmo_tasks.training.resume.run_state import (
    RunState,
    load_runtime_state,
    save_runtime_state,
)
from tests.tiny import elmo

SCORES, GOLD = (
    torch.tensor([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]]),
    torch.tensor([1, 1, 1]),
)
MORE, MORE_GOLD = torch.tensor([[0.6, 0.4]]), torch.tensor([0])
TAGS = [["B-PER", "O"], ["B-LOC", "O"]]

METRICS: dict[str, tuple[Metric, tuple[Any, Any], tuple[Any, Any]]] = {
    "entities": (EntityF1(), (TAGS, TAGS[::-1]), (TAGS, TAGS)),
    "labels": (CategoricalAccuracy(), (SCORES, GOLD), (MORE, MORE_GOLD)),
    "coreference": (
        CorefScores(),
        ([[(0, 1), (2, 3)]], [[(0, 1), (4, 4)]]),
        ([[(0, 1)]], [[(0, 1)]]),
    ),
}


class Holder(torch.nn.Module):
    """A model with a metric and a list of metrics."""

    def __init__(self, *metrics: Metric) -> None:
        super().__init__()
        self.alone = metrics[0]
        self.part = torch.nn.Module()
        self.part.listed = [metrics[-1]]  # type: ignore[assignment]


def through_a_file(state: dict[str, Any]) -> dict[str, Any]:
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return dict(torch.load(file, weights_only=True))


@pytest.mark.parametrize("name", METRICS)
def test_metrics_are_restored(name: str) -> None:
    first, batch, more = METRICS[name]
    first.reset()
    second = type(first)()
    first(*batch)
    counted = first.get_metric()
    load_runtime_state(
        Holder(second), through_a_file(save_runtime_state(Holder(first)))
    )
    assert second.get_metric() == counted
    first(*more), second(*more)
    assert second.get_metric() == first.get_metric()


def test_carried_states_are_restored(tmp_path: Any) -> None:
    first, second = (elmo(tmp_path, state="carry") for _ in range(2))
    ids = batch_to_ids([["the", "ferry"], ["a", "b", "c"]])
    first.layers(ids)
    load_runtime_state(
        torch.nn.ModuleList([second]),
        through_a_file(save_runtime_state(torch.nn.ModuleList([first]))),
    )
    assert torch.equal(first.layers(ids).layers, second.layers(ids).layers)


def test_a_checkpoint_of_another_version(tmp_path: Path) -> None:
    (tmp_path / "vocabulary").mkdir()
    trainer: Any = SimpleNamespace(
        _serialization_dir=str(tmp_path),
        _batches_in_epoch_completed=1,
        _should_validate_this_epoch=True,
        _total_batches_completed=1,
        _scaler=None,
        data_loader=SimpleNamespace(position=dict),
        model=torch.nn.Module(),
    )
    state = RunState(trainer).state_dict()
    del state["penalty"]
    with pytest.raises(InputError, match="got one without 'penalty'"):
        RunState(trainer).load_state_dict(state)
