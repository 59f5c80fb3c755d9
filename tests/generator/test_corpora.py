"""The committed corpora: in the official formats, without overlap between the splits."""

import pytest
from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import ListField

from tests.tiny import FIXTURES

COMMITTED = FIXTURES / "miniworld"

FILES = {
    "ner": {"ner/eng.train": 400, "ner/eng.testa": 500, "ner/eng.testb": 500},
    "snli": {"snli/snli_1.0_train.jsonl": 3000, "snli/snli_1.0_dev.jsonl": 600, "snli/snli_1.0_test.jsonl": 600},
    "sst": {"sst/train.txt": 200, "sst/dev.txt": 400, "sst/test.txt": 400},
    "srl": {"srl/train": 697, "srl/development": 432, "srl/test": 433},
    "squad": {"squad/train-v1.1.json": 2240, "squad/dev-v1.1.json": 400, "squad/test-v1.1.json": 400},
    "coref": {"coref/train.gold_conll": 160, "coref/dev.gold_conll": 60, "coref/test.gold_conll": 60},
}
"""The number of instances in each file, by task."""

TEXT_FIELDS = ("tokens", "premise", "hypothesis", "passage", "text")


@pytest.mark.parametrize("task", FILES)
def test_splits_are_readable_and_do_not_overlap(task: str) -> None:
    reader = DatasetReader.by_name(f"elmo_tasks_{task}")()
    seen: set[tuple[str, ...]] = set()
    for path, size in FILES[task].items():
        instances = list(reader.read(COMMITTED / path))
        texts = {text_of(instance) for instance in instances}
        assert len(instances) == size and not texts & seen
        seen |= texts


def text_of(instance: Instance) -> tuple[str, ...]:
    fields = [instance.fields[name] for name in TEXT_FIELDS if name in instance.fields]
    texts = [text for field in fields for text in (field if isinstance(field, ListField) else [field])]
    return tuple(token.text for text in texts for token in text.tokens)
