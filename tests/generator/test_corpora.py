"""The committed corpora: in the official formats, and without overlap between their files."""

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
    "squad": {"squad/train-v1.1.json": 1120, "squad/dev-v1.1.json": 400, "squad/test-v1.1.json": 400},
    "coref": {"coref/train.gold_conll": 160, "coref/dev.gold_conll": 60, "coref/test.gold_conll": 60},
}
"""The number of instances in each file, by the name of its reader."""

TEXT_FIELDS = ("tokens", "premise", "hypothesis", "passage", "text")


@pytest.mark.parametrize("task", FILES)
def test_files_are_readable_and_share_no_text(task: str) -> None:
    reader = DatasetReader.by_name(f"elmo_tasks_{task}")()
    seen: set[tuple[str, ...]] = set()
    for path, size in FILES[task].items():
        instances = list(reader.read(COMMITTED / path))
        assert len(instances) == size
        texts = {text_of(instance) for instance in instances}
        assert not texts & seen, f"{path} repeats text of another file"
        seen |= texts


def text_of(instance: Instance) -> tuple[str, ...]:
    fields = [instance.fields[name] for name in TEXT_FIELDS if name in instance.fields]
    texts = [text for field in fields for text in (field if isinstance(field, ListField) else [field])]
    return tuple(token.text for text in texts for token in text.tokens)


def test_language_model_text_is_distinct_and_tokenized() -> None:
    lines = {name: (COMMITTED / f"lm/{name}.miniworld.txt").read_text().splitlines() for name in ("train", "heldout")}
    assert {name: len(found) for name, found in lines.items()} == {"train": 20_000, "heldout": 2_000}
    every = [line for found in lines.values() for line in found]
    assert len(set(every)) == len(every)
    assert all(4 <= len(line.split(" ")) <= 35 and line.split()[-1] in (".", "?") for line in every)
