"""Instances for the tests of SRL."""

from allennlp.data import Instance

from elmo_tasks.tasks.srl.reader import SrlReader
from tests import tiny

FIXTURES = tiny.FIXTURES / "srl"
TALE = FIXTURES / "tale.v4_gold_conll"


def corpus() -> list[Instance]:
    """New instances, which are not indexed yet."""
    return list(SrlReader().read(FIXTURES))


def instance(words: str, predicate: int, tags: str | None = None) -> Instance:
    reader = SrlReader()
    gold = None
    if tags is not None:
        gold = tags.split()
    made = reader.text_to_instance(words.split(), predicate, gold)
    reader.apply_token_indexers(made)
    return made
