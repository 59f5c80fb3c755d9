"""`ElmoEmbeddings` in flair, tested in a separate environment."""

from pathlib import Path

import numpy as np
import pytest
import torch

from elmo_tasks.elmo import Elmo
from tests.elmo.samples import write_bilm

flair = pytest.importorskip("flair", reason="tested by make test-adapters")

from flair.data import Corpus, Sentence  # noqa: E402
from flair.datasets import FlairDatapointDataset  # noqa: E402
from flair.models import SequenceTagger  # noqa: E402
from flair.trainers import ModelTrainer  # noqa: E402

from elmo_tasks.integrations.flair import ElmoEmbeddings  # noqa: E402


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.setattr(flair, "device", torch.device("cpu"))
    flair.set_seed(1)
    return write_bilm(tmp_path)


def sentences() -> list[Sentence]:
    found = []
    for text in ("Mira saw the ferry", "the ferry left Tarn", "Oakes left"):
        sentence = Sentence(text)
        for place, token in enumerate(sentence):
            if token.text[0].isupper():
                sentence[place : place + 1].add_label("ner", "NAME")
        found.append(sentence)
    return found


def test_vectors(files: tuple[str, str]) -> None:
    words = []
    for sentence in sentences():
        words.append([token.text for token in sentence])
    for layers, width in (("all", 36), ("top", 12), (0, 12)):
        embeddings = ElmoEmbeddings("+".join(files), layers=layers)
        embedded = sentences()
        embeddings.embed(embedded)
        assert embeddings.embedding_length == width
        vectors = Elmo.from_files(*files).embed(words, layers=layers)
        for sentence, expected in zip(embedded, vectors, strict=True):
            if layers == "all":
                expected = expected.swapaxes(0, 1).reshape(len(sentence), -1)
            found = [token.embedding.numpy() for token in sentence]
            assert np.allclose(found, expected, atol=1e-6)


def test_a_tagger_trains_saves_and_loads(
    files: tuple[str, str], tmp_path: Path
) -> None:
    data = FlairDatapointDataset(sentences())
    corpus = Corpus(train=data, dev=data, test=data)
    labels = corpus.make_label_dictionary("ner", add_unk=False)
    tagger = SequenceTagger(
        ElmoEmbeddings(), labels, "ner", hidden_size=16, use_crf=False
    )
    ModelTrainer(tagger, corpus).train(
        tmp_path / "run", learning_rate=0.5, max_epochs=15, mini_batch_size=3
    )
    loaded = SequenceTagger.load(tmp_path / "run" / "final-model.pt")
    assert (
        tmp_path / "run" / "final-model.pt"
    ).stat().st_size < 10**7  # the biLM has 20 MB
    sentence, other = Sentence("Oakes left Tarn"), Sentence("Oakes left Tarn")
    loaded.predict(sentence)
    loaded.save(tmp_path / "again.pt")
    SequenceTagger.load(tmp_path / "again.pt").predict(other)
    assert [label.data_point.text for label in sentence.get_labels("ner")] == [
        "Oakes",
        "Tarn",
    ]
    labels = [str(label) for label in sentence.get_labels()]
    assert [str(label) for label in other.get_labels()] == labels
