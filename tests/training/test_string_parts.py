"""
Parts of a config that are strings, AllenNLP's short form of `{"type": ...}`: a training,
its archive and an evaluation take them, and refuse values that are neither.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DataLoader, TextFieldTensors, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.models import Model, SimpleTagger
from allennlp.modules.seq2seq_encoders import PassThroughEncoder
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.modules.token_embedders import Embedding

from elmo_tasks.system.run_names import ARCHIVE
from elmo_tasks.training.archives.loading import load_archive, score
from elmo_tasks.training.checks.construct import check
from elmo_tasks.training.config import read_config
from elmo_tasks.training.run import train
from tests.tiny import SAMPLES


@Model.register("tests_plain_tagger")
class PlainTagger(SimpleTagger):
    """A tagger that needs no keys."""

    def __init__(self, vocab: Vocabulary) -> None:
        words = Embedding(embedding_dim=2, num_embeddings=vocab.get_vocab_size())
        embedder = BasicTextFieldEmbedder({"tokens": words})
        super().__init__(vocab, embedder, PassThroughEncoder(2))

    def forward(self, tokens: TextFieldTensors, **others: Any) -> dict[str, Any]:
        return super().forward(tokens, **others)


@DataLoader.register("tests_pairs")
class Pairs(MultiProcessDataLoader):
    """A data loader that needs no keys."""

    def __init__(self, reader: Any, data_path: str, batch_size: int = 2) -> None:
        super().__init__(reader, data_path, batch_size=batch_size)


STRINGS = {
    "dataset_reader": "conll2003",
    "validation_dataset_reader": "conll2003",
    "model": "tests_plain_tagger",
    "data_loader": "tests_pairs",
    "validation_data_loader": "tests_pairs",
    "trainer": "elmo_tasks",
    "vocabulary": "from_instances",
    "evaluation": "simple",
}
DATA = {
    "train_data_path": str(SAMPLES["ner"]),
    "validation_data_path": str(SAMPLES["ner"]),
}


def test_a_training_of_a_config_of_strings(tmp_path: Path) -> None:
    """It ends with an archive, can be resumed, and its model evaluates."""
    config = DATA | STRINGS
    assert check(config).problems == []
    folder = tmp_path / "run"
    train(Params(dict(config)), folder)
    (folder / ARCHIVE).unlink()
    train(Params(dict(config)), folder, recover=True)
    scores = score(load_archive(folder / ARCHIVE), SAMPLES["ner"], batch_size=1)
    assert 0 <= scores["accuracy"] <= 1


@pytest.mark.parametrize("value", [[], ["gradient_descent"], "", False, True, 3])
@pytest.mark.parametrize("key", STRINGS)
def test_what_is_neither_an_object_nor_a_name(key: str, value: Any) -> None:
    (problem,) = check(DATA | STRINGS | {key: value}).problems
    assert problem.startswith((f"{key}: ", f"{key}.type: "))


def test_overrides_of_a_key_below_a_string(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(DATA | STRINGS))
    config = read_config(file, '{"trainer.num_epochs": 3}').as_dict(quiet=True)
    assert config["trainer"] == {"type": "elmo_tasks", "num_epochs": 3}
