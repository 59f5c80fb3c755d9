"""Instances for the tests of SRL."""

from allennlp.data import Instance

from elmo_tasks.tasks.srl.reader import SrlReader
from tests import tiny

FIXTURES = tiny.FIXTURES / "srl"
TALE, NOTES = FIXTURES / "tale.v4_gold_conll", FIXTURES / "web" / "notes.gold_conll"


def corpus() -> list[Instance]:
    """New instances, which are not indexed yet."""
    return list(SrlReader().read(FIXTURES))


def instance(words: str, predicate: int, tags: str | None = None) -> Instance:
    reader = SrlReader()
    made = reader.text_to_instance(
        words.split(), predicate, None if tags is None else tags.split()
    )
    reader.apply_token_indexers(made)
    return made
