"""What the page draws of answers of AllenNLP's predictors."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from importlib.resources import files
from typing import Any

import pytest

pytest.importorskip("allennlp_models", reason="tested by make test-models")


from allennlp_archives import opener
from helpers import Trained
from tests.archives.make import STORED
from tests.web.conftest import Show, texts
from tests.web.serving import Server, serving

pytestmark = pytest.mark.slow

WORDS = ["Ada", "Wells", "sold", "it"]
PASSAGE = "It rained. \U0001f600 Ada sold it. Then Ada Wells sold it."
PIECES = ["ĠIt", "Ġrained", ".", "[UNK]", "Ġada", "Ġsold", "Ġit", ".", "ĠThen", "ĠAda"]
ASKED = {"question": "Who sold it?", "passage": PASSAGE}
SENTENCE = {"sentence": "Ada Wells sold it"}


@pytest.fixture(scope="module")
def server(trained: Callable[[str], Trained]) -> Iterator[Server]:
    """With an old model, whose package has the drawings."""
    old = trained("tagging").archive
    with serving(STORED / "1" / "ner.tar.gz", f"old={old}") as running:
        yield running


def of_predictor(task: str, labels: list[str], route: Any) -> None:
    """The list of models, as if the first one were of a predictor of AllenNLP."""
    about = route.fetch().json()
    about["models"][0] |= {"task": task, "mix": None, "labels": labels}
    tab = opener.page(task)
    assert tab is not None
    old = about["tasks"]["sentence_tagger"]
    about["tasks"][task] = old | {"boxes": tab["boxes"]}
    route.fulfill(json=about)


def drawing(
    show: Show, task: str, given: Any, answer: Any, labels: tuple[str, ...] = ()
) -> Any:
    """The page with an answer of the first model, as one of a predictor of AllenNLP."""
    models = partial(of_predictor, task, list(labels))
    link = {"view": task, "input": json.dumps(given)}
    return show(link, {"ner": answer}, models=models)


def test_the_server_has_the_tab_and_the_drawings_of_this_package(
    server: Server,
) -> None:
    script = (files("allennlp_archives") / "answers.js").read_bytes()
    assert server.send("/answers.js").body == script
    about = json.loads(server.send("/api/models").body)
    assert [model["task"] for model in about["models"]] == ["ner", "sentence_tagger"]
    tab = about["tasks"]["sentence_tagger"]
    assert tab["title"] == "Tags (AllenNLP)"
    assert tab["boxes"] == [["sentence", "Sentence", 2, "text"]]
    answer = server.send("/api/predict/old", SENTENCE)
    assert answer.status == 200
    assert len(json.loads(answer.body)["tags"]) == 4


@pytest.mark.parametrize(
    ("tags", "marks"),
    [
        (["B-PER", "I-PER", "O", "B-LOC"], ["Ada WellsPER", "itLOC"]),
        (["B-PER", "L-PER", "O", "U-LOC"], ["Ada WellsPER", "itLOC"]),
        (["I-PER", "I-PER", "O", "I-LOC"], ["Ada WellsPER", "itLOC"]),
        (["I-PER", "B-PER", "I-LOC", "I-LOC"], ["AdaPER", "WellsPER", "sold itLOC"]),
        (["U-PER", "U-PER", "O", "O"], ["AdaPER", "WellsPER"]),
        (["O", "O", "O", "O"], []),
    ],
)
def test_tags_of_spans_are_marks(tags: list[str], marks: list[str], show: Show) -> None:
    answer = {"logits": [[0.5] * 50] * 4, "words": WORDS, "tags": tags}
    page = drawing(show, "sentence_tagger", SENTENCE, answer)
    assert texts(page, ".drawing mark") == marks
    assert page.locator(".drawing").text_content() == _with_labels(marks)


def _with_labels(marks: list[str]) -> str:
    """The words, with the marks in them."""
    text = " ".join(WORDS)
    for mark in marks:
        text = text.replace(mark.rstrip("PERLOC"), mark)
    return text


def test_other_tags_are_below_the_words(show: Show) -> None:
    tags = ["NNP", "NNP", "VBD", "O"]
    answer = {"words": WORDS, "tags": tags}
    page = drawing(show, "sentence_tagger", SENTENCE, answer)
    assert texts(page, ".token small") == tags


def test_dependencies_are_below_the_words(show: Show) -> None:
    names = ["compound", "nsubj", "root", "obj"]
    answer = {
        "words": WORDS,
        "pos": ["X"] * 4,
        "predicted_dependencies": names,
        "predicted_heads": [2, 3, 0, 3],
    }
    page = drawing(show, "biaffine_dependency_parser", SENTENCE, answer)
    shown = ["compound of Wells", "nsubj of sold", "root", "obj of sold"]
    assert texts(page, ".token small") == shown


def test_frames(show: Show) -> None:
    tags = ["B-ARG0", "I-ARG0", "B-V", "B-ARG1"]
    answer = {"words": WORDS, "verbs": [{"verb": "sold", "tags": tags}]}
    page = drawing(show, "semantic_role_labeling", SENTENCE, answer)
    assert texts(page, ".drawing h3") == ["sold"]
    assert texts(page, ".drawing mark") == ["Ada WellsARG0", "soldV", "itARG1"]


def test_clusters(show: Show) -> None:
    answer = {
        "document": ["Ada", "Wells", "left", ".", "She", "sang"],
        "clusters": [[[0, 1], [4, 4]]],
    }
    given = {"document": "Ada Wells left. She sang"}
    page = drawing(show, "coreference_resolution", given, answer)
    assert texts(page, ".drawing mark") == ["1Ada Wells", "1She"]


@pytest.mark.parametrize("key", ["probs", "class_probabilities", "label_probs"])
def test_classes_have_the_names_of_the_labels(key: str, show: Show) -> None:
    answer = {"logits": [1, 2], key: [0.25, 0.75], "label": "bad"}
    labels = ("good", "bad")
    page = drawing(show, "text_classifier", SENTENCE, answer, labels)
    assert texts(page, ".drawing .bars th") == ["good", "bad"]
    assert texts(page, ".drawing .bars .number") == ["0.250", "0.750"]
    assert texts(page, ".verdict") == ["bad"]


def test_classes_without_names(show: Show) -> None:
    answer = {"probs": [0.25, 0.75], "label": "bad"}
    page = drawing(show, "text_classifier", SENTENCE, answer)
    assert texts(page, ".drawing .bars th") == ["class 0", "bad"]


@pytest.mark.parametrize("tokens", ["passage_tokens", "context_tokens"])
def test_an_answer_is_marked_where_its_first_token_is(tokens: str, show: Show) -> None:
    """Also if the passage has the same text before, and tokens are word pieces."""
    answer = {"best_span": [9, 9], "best_span_str": "Ada", tokens: PIECES}
    page = drawing(show, "reading_comprehension", ASKED, answer)
    assert texts(page, ".drawing mark") == ["Ada"]
    before = page.locator(".drawing mark").evaluate("one => one.previousSibling.data")
    assert before.endswith("Ada sold it. Then ")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            {"best_span": [-1, -1], "best_span_str": "", "context_tokens": []},
            "no answer",
        ),
        ({"answer": {"answer_type": "count", "count": 7}, "passage_tokens": []}, "7"),
    ],
)
def test_an_answer_outside_of_the_passage(answer: Any, said: str, show: Show) -> None:
    page = drawing(show, "reading_comprehension", ASKED, answer)
    assert page.locator(".drawing mark").count() == 0
    assert texts(page, ".drawing .text")[-1] == said


@pytest.mark.parametrize(
    "answer",
    [
        {"predicted_tokens": ["b", "a"]},
        {"predicted_tokens": [["b", "a"], ["a"]]},
        {"predicted_tokens": ["b", "a"], "predicted_text": "b a"},
        {"trees": "b a"},
    ],
)
def test_generated_text(answer: Any, show: Show) -> None:
    page = drawing(show, "seq2seq", {"source": "a b"}, answer)
    assert texts(page, ".drawing .text") == ["b a"]


@pytest.mark.parametrize(
    "answer", [{"best_alternative": 1}, {"words": [["a"]], "tags": 3}, {"label": "a"}]
)
def test_other_answers_are_json(answer: Any, show: Show) -> None:
    page = drawing(show, "sentence_tagger", SENTENCE, answer)
    assert [json.loads(one) for one in texts(page, ".drawing pre")] == [answer]
