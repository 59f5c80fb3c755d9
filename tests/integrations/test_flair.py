"""`ElmoEmbeddings` in flair, tested in a separate environment."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from elmo_tasks.bilm import BiLM
from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from tests.elmo.samples import write_bilm

flair = pytest.importorskip("flair", reason="tested by make test-adapters")

from flair.data import Corpus, Dictionary, Sentence  # noqa: E402
from flair.datasets import FlairDatapointDataset  # noqa: E402
from flair.embeddings import (  # noqa: E402
    DocumentPoolEmbeddings,
    OneHotEmbeddings,
    StackedEmbeddings,
    legacy,
)
from flair.embeddings.base import load_embeddings  # noqa: E402
from flair.models import SequenceTagger, TextClassifier  # noqa: E402
from flair.trainers import ModelTrainer  # noqa: E402

from elmo_tasks.integrations.flair import (  # noqa: E402
    ElmoEmbeddings,
    load_old,
    named_before,
)


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


def test_a_stack_keeps_its_order_when_it_is_loaded(files: tuple[str, str]) -> None:
    """flair concatenates vectors in the order of their embeddings' names."""
    model = "+".join(files)
    parts = [ElmoEmbeddings(model, layers="top"), ElmoEmbeddings(model, layers=0)]
    stack = StackedEmbeddings(parts)
    loaded = load_embeddings(stack.save_embeddings(use_state_dict=False))
    found = []
    for one in (stack, loaded):
        sentence = Sentence("Mira saw the ferry")
        one.embed(sentence)
        names = one.get_names()
        vectors = [token.get_embedding(names) for token in sentence]
        found.append(torch.stack(vectors))
    assert torch.equal(*found)


def one_hot() -> OneHotEmbeddings:
    """Embeddings that need no download."""
    words = Dictionary()
    for word in ("Oakes", "left", "ferry"):
        words.add_item(word)
    return OneHotEmbeddings(words, embedding_length=8)


class OldPart(torch.nn.Module):
    """In place of AllenNLP's modules: a module with whatever it is given."""

    def __init__(self, **parts: Any) -> None:
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)


class OldEmbedder(torch.nn.Module):
    """In place of AllenNLP 0.9's `ElmoEmbedder`, which flair's old class holds."""

    def __init__(self, options_file: str, weight_file: str, cuda_device: int) -> None:
        super().__init__()
        self.files = options_file, weight_file
        weight = BiLM.from_files(
            options_file, weight_file
        ).token_encoder.projection.weight
        projection = torch.nn.Linear(weight.shape[1], weight.shape[0])
        projection.weight = weight
        part = sys.modules[ALLENNLP]._ElmoBiLm
        self.elmo_bilm = part(
            _token_embedder=part(_projection=projection),
            _elmo_lstm=part(_states=(torch.zeros(1),)),
        )

    def embed_batch(self, words: list[list[str]]) -> list[np.ndarray]:
        return Elmo.from_files(*self.files).embed(words, layers="all")


ALLENNLP = "allennlp.commands.elmo"


@pytest.fixture
def old_allennlp(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Modules with the names of AllenNLP 0.9; `undo` removes them."""
    names = ("allennlp", "allennlp.commands", ALLENNLP)
    modules = [ModuleType(name) for name in names]
    for name, module in zip(names, modules, strict=True):
        monkeypatch.setitem(sys.modules, name, module)
    modules[0].commands = modules[1]
    modules[1].elmo = modules[2]
    modules[2].DEFAULT_OPTIONS_FILE = modules[2].DEFAULT_WEIGHT_FILE = "none"
    for name, base in (("ElmoEmbedder", OldEmbedder), ("_ElmoBiLm", OldPart)):
        setattr(modules[2], name, type(name, (base,), {"__module__": ALLENNLP}))
    return monkeypatch


def old_state(tagger: SequenceTagger) -> dict[str, Any]:
    """What flair before 0.12 saved: the embeddings are themselves in the file."""
    return {
        "state_dict": tagger.state_dict(),
        "embeddings": tagger.embeddings,
        "hidden_size": tagger.hidden_size,
        "tag_dictionary": tagger.label_dictionary,
        "tag_type": tagger.tag_type,
        "use_crf": tagger.use_crf,
        "use_rnn": tagger.use_rnn,
        "rnn_layers": tagger.rnn_layers,
        "use_word_dropout": 0.05,
        "use_locked_dropout": 0.5,
        "rnn_type": tagger.rnn_type,
        "reproject_embeddings": tagger.reproject_embeddings,
    }


@pytest.mark.parametrize("mode", ["all", "top", "average"])
@pytest.mark.parametrize("stacked", [False, True])
def test_a_tagger_of_flairs_own_elmo_embeddings(
    files: tuple[str, str],
    tmp_path: Path,
    old_allennlp: pytest.MonkeyPatch,
    mode: str,
    stacked: bool,
) -> None:
    """
    Its probabilities are as before; what it is saved to, flair loads by itself.
    """
    embeddings = legacy.ELMoEmbeddings("small", *files, embedding_mode=mode)
    if stacked:
        embeddings = StackedEmbeddings([embeddings, one_hot()])
    data = FlairDatapointDataset(sentences())
    labels = Corpus(train=data, dev=data, test=data).make_label_dictionary(
        "ner", add_unk=False
    )
    old = SequenceTagger(embeddings, labels, "ner", hidden_size=16, use_crf=False)
    old.eval()
    expected = scores(old)
    assert any(".ee." in name for name in old.state_dict())
    torch.save(old_state(old), tmp_path / "old.pt")
    old_allennlp.undo()
    with pytest.raises(ModuleNotFoundError, match="allennlp"):
        SequenceTagger.load(tmp_path / "old.pt")
    tagger = load_old(tmp_path / "old.pt", "+".join(files))
    assert np.allclose(scores(tagger), expected, atol=1e-5)
    tagger.save(tmp_path / "new.pt")
    again = SequenceTagger.load(tmp_path / "new.pt")
    assert np.allclose(scores(again), expected, atol=1e-5)
    with pytest.raises(InputError, match=r"old.pt: expected the biLM .* got bundled"):
        load_old(tmp_path / "old.pt", "bundled")


def test_a_classifier_of_flairs_own_elmo_embeddings(
    files: tuple[str, str], tmp_path: Path, old_allennlp: pytest.MonkeyPatch
) -> None:
    embeddings = legacy.ELMoEmbeddings("small", *files, embedding_mode="top")
    labels = Dictionary(add_unk=False)
    for label in ("good", "bad"):
        labels.add_item(label)
    old = TextClassifier(
        DocumentPoolEmbeddings([embeddings, one_hot()], fine_tune_mode="linear"),
        "class",
        label_dictionary=labels,
    ).eval()
    text = Sentence("Oakes left Tarn")
    old.predict(text, return_probabilities_for_all_classes=True)
    expected = [label.score for label in text.labels]
    state = {
        "state_dict": old.state_dict(),
        "document_embeddings": old.embeddings,
        "label_dictionary": labels,
        "label_type": "class",
        "multi_label": False,
    }
    torch.save(state, tmp_path / "old.pt")
    old_allennlp.undo()
    model = "+".join(files)
    loaded = load_old(tmp_path / "old.pt", model, kind=TextClassifier)
    text = Sentence("Oakes left Tarn")
    loaded.predict(text, return_probabilities_for_all_classes=True)
    assert [label.score for label in text.labels] == pytest.approx(expected, abs=1e-5)
    with pytest.raises(InputError, match="old.pt: no SequenceTagger can be built from"):
        load_old(tmp_path / "old.pt", model)


def scores(tagger: SequenceTagger) -> list[float]:
    """The probabilities of all tags."""
    sentence = Sentence("Oakes left Tarn")
    tagger.predict(sentence, return_probabilities_for_all_classes=True)
    found = []
    for token in sentence:
        for label in token.get_tags_proba_dist("ner"):
            found.append(label.score)
    return found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("elmo-original", ("elmo-original", "all")),
        ("elmo-original-top", ("elmo-original", "top")),
        ("0-elmo-small-average", ("elmo-small", "average")),
        ("1-elmo-5.5B-all", ("elmo-5.5b", "all")),
        ("elmo-large-all", ("elmo-5.5b", "all")),
        ("elmo-pt-all", ("elmo-portuguese", "all")),
        ("elmo-pubmed-all", ("elmo-pubmed", "all")),
        ("elmo-mine-all", (None, "all")),
    ],
)
def test_names_of_flairs_own_elmo_embeddings(
    name: str, expected: tuple[str | None, str]
) -> None:
    assert named_before(name) == expected


def test_files_that_are_no_old_taggers(files: tuple[str, str], tmp_path: Path) -> None:
    file = tmp_path / "tagger.pt"
    with pytest.raises(InputError, match="no such file: a tagger"):
        load_old(file)
    file.write_bytes(b"nothing")
    with pytest.raises(InputError, match="cannot read the tagger"):
        load_old(file)
    torch.save({"embeddings": one_hot(), "state_dict": {}}, file)
    with pytest.raises(InputError, match="expected ELMoEmbeddings of flair, got none"):
        load_old(file)
    torch.save({"embeddings": [], "state_dict": {}}, file)
    with pytest.raises(InputError, match="expected ELMoEmbeddings of flair, got none"):
        load_old(file)
    for content in (None, "text", [1], torch.ones(2), {}, {"embeddings": one_hot()}):
        torch.save(content, file)
        with pytest.raises(InputError, match="tagger.pt: expected a model of flair"):
            load_old(file)
