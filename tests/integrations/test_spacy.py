"""Components of spaCy pipelines, with the stored archives."""

import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from allennlp.models.archival import load_archive
from allennlp.predictors import Predictor

import elmo_tasks.integrations.spacy  # noqa: F401 (as its entry points do)
from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.training.archives.contents import unpacked
from tests.archives.make import STORED

TEXT = "Captain Oakes said that Mira sold the old ferry.  She left it to him, and he sold it."

STORY = (
    "Mira Oakes and her brother left the harbour of Tarn ."
    " He knew the old pilot 's boat well . She liked it , too ."
)


def pipeline(archive: Path, *before: str) -> spacy.Language:
    nlp = spacy.blank("en")
    for name in before:
        nlp.add_pipe(name)
    nlp.add_pipe("elmo_tasks", config={"archive": str(archive)})
    return nlp


def predicted(task: str, text: str) -> Any:
    predictor = Predictor.from_archive(load_archive(STORED / "1" / f"{task}.tar.gz"))
    if task == "coref":
        return predictor.predict_json({"text": text})
    return predictor.predict_json({"sentence": text})


def test_entities_have_the_offsets_of_predict() -> None:
    doc = pipeline(STORED / "1" / "ner.tar.gz")(TEXT)
    expected = []
    for entity in predicted("ner", TEXT)["entities"]:
        expected.append((entity["start"], entity["end"], entity["type"]))
    found = [(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents]
    assert found == expected != []


def test_sentences_of_an_earlier_component() -> None:
    nlp = pipeline(STORED / "1" / "ner.tar.gz", "sentencizer")
    docs = list(nlp.pipe([TEXT, " ", ""], batch_size=2))
    expected = []
    for sentence, shift in ((TEXT[:48], 0), (TEXT[50:], 50)):
        for entity in predicted("ner", sentence)["entities"]:
            expected.append((entity["start"] + shift, entity["end"] + shift))
    assert [(ent.start_char, ent.end_char) for ent in docs[0].ents] == expected
    nlp = pipeline(STORED / "1" / "srl.tar.gz", "sentencizer")
    count = 0
    for frame in nlp(TEXT)._.frames:
        for argument in frame["arguments"]:
            assert TEXT[argument["start"] : argument["end"]] == argument["text"]
            count += 1
    assert count > 0


def test_clusters() -> None:
    doc = pipeline(STORED / "1" / "coref.tar.gz")(STORY)
    clusters = predicted("coref", STORY)["clusters"]
    assert len(doc.spans) == len(clusters) > 0
    for number, mentions in enumerate(clusters, start=1):
        spans = doc.spans[f"coref_clusters_{number}"]
        for span, mention in zip(spans, mentions, strict=True):
            assert (span.start_char, span.end_char) == (
                mention["start"],
                mention["end"],
            )
            assert span._.cluster == number


def test_labels_and_unsupported_models() -> None:
    assert pipeline(STORED / "1" / "sst.tar.gz")(TEXT).cats == pytest.approx(
        predicted("sst", TEXT)["probabilities"]
    )
    with pytest.raises(
        InputError, match="expected a model of SRL, .*, got a SnliPredictor"
    ):
        pipeline(STORED / "1" / "snli.tar.gz")(TEXT)
    with pytest.raises(InputError, match=r"gone.tar.gz: the archive does not exist"):
        pipeline(Path("gone.tar.gz"))


@pytest.mark.parametrize("given", ["model.tar.gz", "."])
def test_saved_pipelines_hold_the_archive(given: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with unpacked(STORED / "1" / "ner.tar.gz") as contents:
        shutil.copytree(contents, run)
    shutil.copy(STORED / "1" / "ner.tar.gz", run / "model.tar.gz")
    nlp = pipeline(run / given)
    expected = [ent.text for ent in nlp(TEXT).ents]
    nlp.to_disk(tmp_path / "nlp")
    shutil.rmtree(run)
    for loaded in (
        spacy.load(tmp_path / "nlp"),
        pickle.loads(pickle.dumps(spacy.load(tmp_path / "nlp"))),
    ):
        assert [ent.text for ent in loaded(TEXT).ents] == expected


def test_vectors() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("elmo_tasks_vectors", config={"layers": "top"})
    doc, empty = nlp.pipe([TEXT, ""])
    words = [token.text for token in doc]
    (expected,) = Elmo.from_files().embed([words], layers="top")
    assert np.array_equal(doc.tensor, expected) and np.array_equal(
        doc[3].vector, expected[3]
    )
    assert empty.tensor.shape == (0, 320)
    with pytest.raises(InputError, match="got all layers"):
        nlp.add_pipe("elmo_tasks_vectors", name="other", config={"layers": "all"})


def test_vectors_are_computed_on_the_cpu_by_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A GPU that the parent has opened is of no use to spaCy's processes."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.current_device", lambda: 99)
    nlp = spacy.blank("en")
    component: Any = nlp.add_pipe("elmo_tasks_vectors", config={"layers": "top"})
    assert component.elmo.device.type == "cpu"
