"""Components of spaCy pipelines, with the stored archives and the bundled biLM."""

import pickle
import shutil
from collections.abc import Callable, Iterable
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from allennlp.models.archival import load_archive
from allennlp.predictors import Predictor
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, Span, Token
from spacy.training import Example
from spacy.vectors import Vectors

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


ENGLISH = spacy.blank("en")


def pipeline(archive: Path) -> spacy.Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("elmo_tasks", config={"archive": str(archive)})
    return nlp


@cache
def predictor(task: str) -> Predictor:
    return Predictor.from_archive(load_archive(STORED / "1" / f"{task}.tar.gz"))


@cache
def component(task: str) -> Any:
    return pipeline(STORED / "1" / f"{task}.tar.gz").get_pipe("elmo_tasks")


@cache
def vectors() -> Any:
    return spacy.blank("en").add_pipe("elmo_tasks_vectors", config={"layers": "top"})


SENTENCES = (
    "\n\nMira Oakes  sold the old  ferry to Captain Brand. \n She left it"
    " \t in Tarn.  He said so.\n"
)


def starts_by_a_component(name: str) -> Doc:
    nlp = spacy.blank("en")
    nlp.add_pipe(name)
    doc = nlp.make_doc(SENTENCES)
    words = [token.text for token in doc]
    heads, starts = list(range(len(doc))), []
    for token in doc:
        starts.append(token.i == 0 or token.nbor(-1).text == ".")
    gold = {"words": words, "heads": heads, "deps": ["ROOT"] * len(doc)}
    examples = [Example.from_dict(doc, gold | {"sent_starts": starts})]
    optimizer = nlp.initialize(lambda: examples)
    if name == "senter":
        for _ in range(15):
            nlp.update(examples, sgd=optimizer)
    return nlp(SENTENCES)


def starts_by_hand() -> Doc:
    doc = ENGLISH(SENTENCES)
    for token in doc[1:]:
        token.is_sent_start = token.is_space or token.text in ("She", "He")
    return doc


def starts_of_the_constructor() -> Doc:
    doc = ENGLISH(SENTENCES)
    words = [token.text for token in doc]
    return Doc(
        doc.vocab,
        words=words,
        spaces=[bool(token.whitespace_) for token in doc],
        sent_starts=[word in ("\n\n", "She", "He") for word in words],
    )


def starts_of_a_hook() -> Doc:
    doc = ENGLISH(SENTENCES)
    doc.user_hooks["sents"] = lambda doc: [doc[:9], doc[9:]]
    return doc


SETTERS: dict[str, Callable[[], Doc]] = {
    "sentencizer": lambda: starts_by_a_component("sentencizer"),
    "senter": lambda: starts_by_a_component("senter"),
    "parser, of one word each": lambda: starts_by_a_component("parser"),
    "by hand": starts_by_hand,
    "constructor": starts_of_the_constructor,
    "hook": starts_of_a_hook,
    "none": lambda: ENGLISH(SENTENCES),
}


@cache
def texts_with_sentences(setter: str) -> tuple[Doc, list[Span]]:
    """A doc, and its sentences without those of white space."""
    doc = SETTERS[setter]()
    sentences = [doc[:]]
    if setter != "none":
        sentences = list(doc.sents)
        assert len(sentences) > 1
    return doc, [sentence for sentence in sentences if sentence.text.strip()]


def words_of(sentence: Iterable[Token]) -> list[Token]:
    return [token for token in sentence if not token.is_space]


@pytest.mark.parametrize("setter", SETTERS)
def test_vectors_of_sentences(setter: str) -> None:
    doc, sentences = texts_with_sentences(setter)
    texts = [sentence.text for sentence in sentences]
    elmo = Elmo.from_pretrained(device="cpu", tokenizer="spacy:en")
    expected = np.concatenate(elmo.embed(texts, layers="top"))
    found = vectors()(doc.copy()).tensor
    words = [token.i for token in words_of(doc)]
    assert np.array_equal(found[words], expected)
    assert len(found) == len(doc) and not np.delete(found, words, axis=0).any()


@pytest.mark.parametrize("setter", SETTERS)
def test_entities_of_sentences(setter: str) -> None:
    doc, sentences = texts_with_sentences(setter)
    expected = []
    for sentence in sentences:
        shift = sentence.start_char
        answer = predictor("ner").predict_json({"sentence": sentence.text})
        for one in answer["entities"]:
            expected.append((one["start"] + shift, one["end"] + shift, one["type"]))
    found = component("ner")(doc.copy()).ents
    assert [(one.start_char, one.end_char, one.label_) for one in found] == expected


@pytest.mark.parametrize("setter", SETTERS)
def test_clusters_of_sentences(setter: str) -> None:
    doc, sentences = texts_with_sentences(setter)
    given: dict[str, Any] = {"text": doc.text}
    if setter != "none":
        texts = []
        for sentence in sentences:
            texts.append([word.text for word in words_of(sentence)])
        given = {"sentences": texts}
    words = words_of(chain.from_iterable(sentences))
    expected = []
    for cluster in predictor("coref").predict_json(given)["clusters"]:
        for one in cluster:
            first, last = words[one["token_start"]], words[one["token_end"] - 1]
            expected.append((first.i, last.i + 1))
    doc = component("coref")(doc.copy())
    found = chain.from_iterable(doc.spans.values())
    assert [(one.start, one.end) for one in found] == expected


WORDS = st.sampled_from(["Mira", "sold", "left", "it", "ferry", ".", " ", "\n\n", "\t"])
STARTS = st.sampled_from([None, True, False])


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(WORDS, STARTS), max_size=12))
def test_any_doc(tokens: list[tuple[str, bool | None]]) -> None:
    """The expected values are computed from the tokens, without spaCy."""
    sentences: list[list[int]] = [[]]
    for index, (word, starts) in enumerate(tokens):
        if starts:
            sentences.append([])
        if word.strip():
            sentences[-1].append(index)
    sentences = [sentence for sentence in sentences if sentence]
    texts = []
    for sentence in sentences:
        texts.append([tokens[index][0] for index in sentence])
    doc = Doc(
        ENGLISH.vocab,
        words=[word for word, _ in tokens],
        sent_starts=[starts for _, starts in tokens],
    )
    expected = np.zeros((len(tokens), 320), np.float32)
    arrays = vectors().elmo.embed(texts, layers="top")
    frames = []
    answers = predictor("srl").predict_batch_json([{"tokens": text} for text in texts])
    for sentence, array, answer in zip(sentences, arrays, answers, strict=True):
        expected[sentence] = array
        for frame in answer["frames"]:
            parts = []
            for one in frame["arguments"]:
                first, last = one["token_start"], one["token_end"] - 1
                parts.append((one["label"], sentence[first], sentence[last] + 1))
            frames.append((sentence[frame["predicate"]], parts))
    doc = component("srl")(vectors()(doc))
    assert np.array_equal(doc.tensor, expected)
    found = []
    for frame in doc._.frames:
        parts = []
        for one in frame["arguments"]:
            span = doc[one["token_start"] : one["token_end"]]
            parts.append((one["label"], span.start, span.end))
            assert (one["start"], one["end"]) == (span.start_char, span.end_char)
            assert one["text"] == span.text == doc.text[one["start"] : one["end"]]
        found.append((frame["predicate"], parts))
    assert found == frames


def test_texts_without_words() -> None:
    for text in ("", " ", "\n \n"):
        doc = component("srl")(component("ner")(vectors()(ENGLISH(text))))
        assert doc._.frames == [] and not doc.ents
        assert doc.tensor.shape == (len(doc), 320) and not doc.tensor.any()
        assert not component("coref")(doc).spans


@pytest.mark.parametrize(
    ("pattern", "kept", "left_out"),
    [
        ("Captain Oakes said", "Captain Oakes said", "Captain Oakes"),
        ("Captain", "Captain Oakes", "Captain"),
        ("old", "Captain Oakes", None),
    ],
)
def test_the_longer_entity_stays(
    pattern: str, kept: str, left_out: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    nlp = spacy.blank("en")
    ruler: Any = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "X", "pattern": pattern}])
    archive = STORED / "1" / "ner.tar.gz"
    nlp.add_pipe("elmo_tasks", config={"archive": str(archive)})
    first, again = nlp.pipe([TEXT, TEXT])
    nlp(first)
    assert first.ents[0].text == again.ents[0].text == kept
    warnings = [record.getMessage() for record in caplog.records]
    if left_out is None:
        assert warnings == [] and pattern in [ent.text for ent in first.ents]
    else:
        (warning,) = warnings
        assert warning.startswith(f"'{left_out}' (")


def test_labels_and_unsupported_models() -> None:
    expected = predictor("sst").predict_json({"sentence": TEXT})["probabilities"]
    doc = component("sst")(ENGLISH(TEXT))
    assert doc.cats == pytest.approx(expected)
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


def test_all_layers_are_no_tensor() -> None:
    with pytest.raises(InputError, match="got all layers"):
        spacy.blank("en").add_pipe("elmo_tasks_vectors", config={"layers": "all"})


def annotated(doc: Doc) -> list[Any]:
    """What our components have set."""
    found: list[Any] = [doc._.frames]
    for entity in doc.ents:
        found.append((entity.start, entity.end, entity.label_))
    for mention in chain.from_iterable(doc.spans.values()):
        found.append((mention.start, mention.end, mention._.cluster))
    return found


@pytest.mark.parametrize("has_static", [False, True])
def test_copies_of_a_doc(has_static: bool, caplog: pytest.LogCaptureFixture) -> None:
    nlp = spacy.blank("en")
    if has_static:
        nlp.vocab.vectors = Vectors(shape=(1, 50))
        nlp.vocab.set_vector("ferry", np.ones(50, np.float32))
    for task in ("ner", "srl", "coref"):
        archive = STORED / "1" / f"{task}.tar.gz"
        nlp.add_pipe("elmo_tasks", name=task, config={"archive": str(archive)})
    nlp.add_pipe("elmo_tasks_vectors", config={"layers": "top"})
    doc, _ = nlp.pipe([SENTENCES, ""])
    messages = [record.getMessage() for record in caplog.records]
    assert ["static vectors" in message for message in messages] == [True] * has_static
    assert doc._.frames and doc.spans
    (in_a_process, _) = nlp.pipe([SENTENCES, ""], n_process=2)
    from_bytes = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    vectors = [doc[3].vector, doc[2:5].vector, doc.vector]
    for other in (in_a_process, from_bytes):
        assert annotated(other) == annotated(doc)
        assert np.array_equal(other.tensor, doc.tensor) and doc.tensor.any()
        assert np.array_equal(other[3].tensor, doc.tensor[3])
        assert np.array_equal(other[2:5].tensor, doc.tensor[2:5])
        found = [other[3].vector, other[2:5].vector, other.vector]
        for vector, expected in zip(found, vectors, strict=True):
            assert np.array_equal(vector, expected)
    assert np.array_equal(doc[3].vector, doc.tensor[3]) != has_static
    (from_bin,) = DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab)
    assert not from_bin.tensor.size
    with pytest.raises(IndexError):
        _ = from_bin[3].tensor


def test_the_mean_of_an_earlier_tensor_is_not_kept() -> None:
    doc = ENGLISH(TEXT)
    doc.tensor = np.ones((len(doc), 7), np.float32)
    assert (len(doc.vector), doc.vector_norm) == (7, pytest.approx(7**0.5))
    vectors()(doc)
    assert np.array_equal(doc.vector, doc.tensor.mean(axis=0))
    assert doc.vector_norm == pytest.approx(float(np.linalg.norm(doc.vector)))


def test_vectors_are_computed_on_the_cpu_by_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A GPU that the parent has opened is of no use to spaCy's processes."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.current_device", lambda: 99)
    nlp = spacy.blank("en")
    component: Any = nlp.add_pipe("elmo_tasks_vectors", config={"layers": "top"})
    assert component.elmo.device.type == "cpu"
