"""Official files: valid and invalid data, predictions."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.tasks.squad.official import GoldAnswer, read_questions
from tests.squad.samples import FIXTURES


def loaded(name: str = "dev-v1.1.json") -> Any:
    return json.loads((FIXTURES / name).read_text(encoding="utf-8"))


def test_questions() -> None:
    first, *others = read_questions(FIXTURES / "train-v1.1.json")
    assert (first.id, first.text) == ("hb-1", "When did the harbour of Harrow Bay freeze?")
    assert first.answers == (GoldAnswer("1893-94", 40),)
    assert first.where == "article 'Harrow_Bay', paragraph 1, question hb-1"
    assert [question.id for question in others] == ["hb-2", "hb-3", "hb-4", "hb-5", "rc-1", "rc-2"]
    assert others[-1].where == "article 'Harrow_Rowing_Club', paragraph 1, question rc-2"
    assert [len(question.answers) for question in read_questions(FIXTURES / "dev-v1.1.json")] == [3, 3, 2, 2, 2]


def without(key: str) -> Callable[[Any], None]:
    return lambda holder: holder.pop(key)


def setting(key: str, value: Any) -> Callable[[Any], None]:
    return lambda holder: holder.update({key: value})


PARAGRAPH = ("data", 0, "paragraphs", 1)
QUESTION = (*PARAGRAPH, "qas", 1)
ANSWER = (*QUESTION, "answers", 1)
PARAGRAPH_PATH = r"data.0..paragraphs.1."
QUESTION_PATH = rf"{PARAGRAPH_PATH}.qas.1."
ANSWER_PATH = rf"{QUESTION_PATH}.answers.1."


@pytest.mark.parametrize(
    ("place", "change", "message"),
    [
        ((), without("data"), r"the file.data: missing, got \{'version'"),
        (QUESTION, setting("id", "or-4"), "article 'Orrick', paragraph 2, question or-4: duplicate id"),
        (ANSWER, setting("answer_start", True), rf"{ANSWER_PATH}.answer_start: expected a valid integer, got True"),
        (ANSWER, setting("answer_start", -1), "article .* question or-5: expected answer_start below .* got .82, -1"),
    ],
)
def test_invalid_values(tmp_path: Path, place: tuple[Any, ...], change: Callable[[Any], None], message: str) -> None:
    data = holder = loaded()
    for key in place:
        holder = holder[key]
    change(holder)
    (tmp_path / "broken.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match=f"broken.json: {message}"):
        list(read_questions(tmp_path / "broken.json"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"data": [\n\n}', ":3: expected JSON"),
        ("[" * 100_000, ": expected JSON"),
        ('{"data": []}', ": expected questions, got none .SQuAD v1.1 is at"),
    ],
)
def test_invalid_json(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "broken.json").write_text(content)
    with pytest.raises(InputError, match=f"broken.json{message}"):
        list(read_questions(tmp_path / "broken.json"))
