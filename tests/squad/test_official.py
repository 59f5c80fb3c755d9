"""The official files: what is read, what is refused and how it is told, what is written."""

import gzip
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.squad.official import Answer, read_questions, write_predictions

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "squad"


def loaded(name: str = "dev-v1.1.json") -> Any:
    return json.loads((FIXTURES / name).read_text(encoding="utf-8"))


def test_questions_of_a_file() -> None:
    first, *others = read_questions(FIXTURES / "train-v1.1.json")
    assert (first.id, first.text) == ("hb-1", "When did the harbour of Harrow Bay freeze?")
    assert first.answers == (Answer("1893-94", 40),)
    assert first.where == "article 'Harrow_Bay', paragraph 1, question hb-1"
    assert [question.id for question in others] == ["hb-2", "hb-3", "hb-4", "hb-5", "rc-1", "rc-2"]
    assert others[-1].where == "article 'Harrow_Rowing_Club', paragraph 1, question rc-2"
    assert [len(question.answers) for question in read_questions(FIXTURES / "dev-v1.1.json")] == [3, 3, 2, 2, 2]


def test_version_two_has_questions_without_an_answer(tmp_path: Path) -> None:
    assert [len(question.answers) for question in read_questions(FIXTURES / "dev-v2.0.json")] == [2, 0]
    data = loaded("dev-v2.0.json")
    data["data"][0]["paragraphs"][0]["qas"][0]["is_impossible"] = True
    file = tmp_path / "x.json"
    file.write_text(json.dumps(data))
    assert [len(question.answers) for question in read_questions(file)] == [0, 0]


def test_gzip_and_an_article_without_a_title(tmp_path: Path) -> None:
    data = loaded()
    del data["data"][0]["title"]
    (tmp_path / "dev.json.gz").write_bytes(gzip.compress(json.dumps(data).encode()))
    assert next(read_questions(tmp_path / "dev.json.gz")).where == "article 1, paragraph 1, question or-1"


def without(key: str) -> Any:
    def change(holder: dict[str, Any]) -> None:
        del holder[key]

    return change


def setting(key: str, value: Any) -> Any:
    def change(holder: dict[str, Any]) -> None:
        holder[key] = value

    return change


PARAGRAPH, QUESTION = ("data", 0, "paragraphs", 1), ("data", 0, "paragraphs", 1, "qas", 1)


@pytest.mark.parametrize(
    ("place", "change", "message"),
    [
        ((), without("data"), r"the file: 'data' is missing, found \['version'\]"),
        (("data", 0), setting("title", 3), "article 1: 'title' must be of type str, found 3"),
        (("data", 0), without("paragraphs"), "article 'Orrick': 'paragraphs' is missing"),
        (PARAGRAPH, setting("context", " \n"), "article 'Orrick', paragraph 2: 'context' is empty"),
        (PARAGRAPH, setting("qas", {}), "article 'Orrick', paragraph 2: 'qas' must be of type list"),
        (QUESTION, without("id"), "article 'Orrick', paragraph 2, question 2: 'id' is missing"),
        (QUESTION, setting("is_impossible", "false"), "or-5: 'is_impossible' must be of type bool, found 'false'"),
        (QUESTION, setting("id", "or-4"), "paragraph 2, question or-4: the id comes twice"),
        (QUESTION, setting("question", ""), "paragraph 2, question or-5: 'question' is empty"),
        (QUESTION, without("answers"), "paragraph 2, question or-5: 'answers' is missing"),
        (
            (*QUESTION, "answers", 1),
            setting("answer_start", "7"),
            "or-5: 'answer_start' must be of type int, found '7'",
        ),
        ((*QUESTION, "answers", 1), setting("answer_start", True), "'answer_start' must be of type int, found True"),
        (
            (*QUESTION, "answers", 1),
            setting("answer_start", -1),
            "or-5: 'answer_start' -1 lies outside the paragraph of",
        ),
        (
            (*QUESTION, "answers", 1),
            setting("answer_start", 10**30),
            "'answer_start' 10+ lies outside the paragraph of",
        ),
        ((*QUESTION, "answers", 1), setting("text", "\u00a0"), "or-5: 'text' is empty"),
        ((*QUESTION, "answers", 1), setting("text", "\ud800"), "or-5: 'text' holds one half of a character"),
        ((*QUESTION, "answers"), lambda golds: golds.append("x"), "or-5: an object with 'text' was wanted, found 'x'"),
    ],
)
def test_faults_are_told_with_their_place(tmp_path: Path, place: tuple[Any, ...], change: Any, message: str) -> None:
    data = deepcopy(loaded())
    holder = data
    for key in place:
        holder = holder[key]
    change(holder)
    file = tmp_path / "broken.json"
    file.write_text(json.dumps(data))
    with pytest.raises(InputError, match=f"broken.json: .*{message}|broken.json: {message}"):
        list(read_questions(file))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"data": [\n\n}', "broken.json:3: this is not JSON"),
        ("", "broken.json:1: this is not JSON"),
        ('{"data": []}', r"broken.json: no question found \(SQuAD v1.1 is at"),
        ("[]", r"broken.json: the file: an object with 'data' was wanted, found \[\]"),
    ],
)
def test_no_json(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "broken.json").write_text(content)
    with pytest.raises(InputError, match=message):
        list(read_questions(tmp_path / "broken.json"))


def test_predictions_are_one_object(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "predictions.json"
    write_predictions(file, {"b": "café", "a": 'the "end"'})
    assert json.loads(file.read_text(encoding="utf-8")) == {"b": "café", "a": 'the "end"'}
    assert [path.name for path in file.parent.iterdir()] == ["predictions.json"]


def test_predictions_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        write_predictions(tmp_path / "file" / "predictions.json", {})
