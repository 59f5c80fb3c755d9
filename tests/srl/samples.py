"""Fixtures and tiny models for the tests of SRL."""

from pathlib import Path
from typing import Any

from allennlp.data import Instance

from elmo_tasks.tasks.srl.model import SrlTagger
from elmo_tasks.tasks.srl.reader import SrlReader
from tests.models import make_model

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "srl"
TALE, NOTES = FIXTURES / "tale.v4_gold_conll", FIXTURES / "web" / "notes.gold_conll"


def corpus() -> list[Instance]:
    """New instances, which are not indexed yet."""
    return list(SrlReader().read(FIXTURES))


def instance(words: str, predicate: int, tags: str | None = None) -> Instance:
    reader = SrlReader()
    made = reader.text_to_instance(words.split(), predicate, None if tags is None else tags.split())
    reader.apply_token_indexers(made)
    return made


def build(folder: Path, elmo: dict[str, Any] | None = None, **keys: Any) -> SrlTagger:
    model = make_model("srl", corpus(), folder, elmo, **keys)
    assert isinstance(model, SrlTagger)
    return model
