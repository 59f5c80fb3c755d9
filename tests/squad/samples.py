"""A small SQuAD model and its data."""

from pathlib import Path
from typing import Any

from allennlp.data import Instance

from elmo_tasks.tasks.squad.model import SquadModel
from elmo_tasks.tasks.squad.reader import SquadReader
from tests.models import make_model

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "squad"
TINY: dict[str, Any] = {
    "type": "elmo_tasks_squad",
    "text_field_embedder": {
        "token_embedders": {
            "tokens": {"type": "elmo_tasks_word_vectors", "embedding_dim": 4},
            "token_characters": {
                "type": "character_encoding",
                "embedding": {"embedding_dim": 3, "vocab_namespace": "token_characters"},
                "encoder": {"type": "elmo_tasks_character_cnn", "embedding_dim": 3, "num_filters": 5, "width": 5},
            },
        }
    },
    "encoder": {"type": "elmo_tasks_gru", "hidden_size": 4},
    "input_dropout": 0.2,
    "output_dropout": 0.2,
    "dropout": 0.2,
}


def corpus(name: str = "train-v1.1.json") -> list[Instance]:
    """New instances, not indexed by another vocabulary."""
    return list(SquadReader().read(FIXTURES / name))


def build(folder: Path, elmo: dict[str, Any] | None = None, **keys: Any) -> SquadModel:
    """The model in evaluation mode, with GRU weights large enough for all inputs to have an effect."""
    model = make_model(TINY, corpus(), folder, elmo, **keys)
    assert isinstance(model, SquadModel)
    for name, parameter in model.named_parameters():
        if "gru" in name or "encoder" in name and "ward." in name:
            parameter.data.normal_(std=0.5)
    return model
