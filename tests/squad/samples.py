"""A small SQuAD model and its data."""

from pathlib import Path
from typing import Any

from allennlp.data import Instance

from elmo_tasks.tasks.squad.model import SquadModel
from elmo_tasks.tasks.squad.reader import SquadReader
from tests import tiny
from tests.models import make_model

FIXTURES = tiny.FIXTURES / "squad"


def corpus(name: str = "train-v1.1.json") -> list[Instance]:
    """New instances, not indexed by another vocabulary."""
    return list(SquadReader().read(FIXTURES / name))


def build(folder: Path, elmo: dict[str, Any] | None = None, **keys: Any) -> SquadModel:
    """
    The model in evaluation mode, with GRU weights large enough for all inputs to have
    an effect.
    """
    model = make_model("squad", corpus(), folder, elmo, **keys)
    assert isinstance(model, SquadModel)
    for name, parameter in model.named_parameters():
        if "gru" in name or "encoder" in name and "ward." in name:
            parameter.data.normal_(std=0.5)
    return model
