"""Fixtures and tiny models for the tests of SRL."""

from pathlib import Path
from typing import Any

from allennlp.data import Instance

from elmo_tasks.tasks.srl.model import SrlTagger
from elmo_tasks.tasks.srl.reader import SrlReader
from tests.models import make_model

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "srl"
TALE, NOTES = FIXTURES / "tale.v4_gold_conll", FIXTURES / "web" / "notes.gold_conll"

TINY: dict[str, Any] = {
    "type": "elmo_tasks_srl",
    "text_field_embedder": {
        "token_embedders": {
            "tokens": {"type": "elmo_tasks_word_vectors", "embedding_dim": 4},
            "predicate": {"type": "embedding", "num_embeddings": 3, "embedding_dim": 3, "padding_index": 0},
        }
    },
    "encoder": {"type": "elmo_tasks_highway_lstm", "hidden_size": 6, "num_layers": 3, "dropout": 0.2},
}


def corpus() -> list[Instance]:
    """New instances, which are not indexed yet."""
    return list(SrlReader().read(FIXTURES))


def instance(words: str, predicate: int, tags: str | None = None) -> Instance:
    reader = SrlReader()
    made = reader.text_to_instance(words.split(), predicate, None if tags is None else tags.split())
    reader.apply_token_indexers(made)
    return made


def build(folder: Path, elmo: dict[str, Any] | None = None, **keys: Any) -> SrlTagger:
    model = make_model(TINY, corpus(), folder, elmo, **keys)
    assert isinstance(model, SrlTagger)
    return model
