"""The official SQuAD files: questions from a data file, answers into a predictions file."""

import json
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from elmo_tasks.atomic import atomic_write
from elmo_tasks.data.files import open_text
from elmo_tasks.errors import InputError, shown
from elmo_tasks.prediction.json_input import NOT_JSON, json_problem, loaded, text_problem

_SHOWN = 60
"""Characters of an id that a message shows."""

CORPUS_HINT = "SQuAD v1.1 is at https://rajpurkar.github.io/SQuAD-explorer/"


class Answer(NamedTuple):
    """A gold answer: its text, and where it starts in the paragraph, in characters."""

    text: str
    start: int


class Question(NamedTuple):
    """
    # Parameters

    id : `str`
        Unique in its file.
    text : `str`
    context : `str`
        The paragraph that holds the answer.
    answers : `tuple[Answer, ...]`
        One or more, maybe equal ones; none only where the question has no answer.
    where : `str`
        Article, paragraph and question, for messages.
    """

    id: str
    text: str
    context: str
    answers: tuple[Answer, ...]
    where: str


def read_questions(file: str | Path) -> Iterator[Question]:
    """
    All questions of a file in the format of SQuAD v1.1 or v2.0, plain or gzip.

    # Raises

    `InputError`
        With file, article, paragraph and question: if something is missing, empty or of another type, an answer starts
        outside its paragraph, or an id comes twice; if there is no question; whatever `open_text` raises; if the file
        is not JSON.
    """
    seen: set[str] = set()
    for question in _questions(_loaded(file), str(file)):
        if question.id in seen:
            raise InputError(f"{question.where}: the id comes twice", file=file)
        seen.add(question.id)
        yield question
    if not seen:
        raise InputError("no question found", file=file, hint=CORPUS_HINT)


def write_predictions(file: str | Path, predictions: Mapping[str, str]) -> None:
    """
    Writes the file that the official script scores: one object, from id to text.

    # Raises

    `InputError`
        If it cannot be written; what stood there is untouched then.
    """
    with atomic_write(file) as aside:
        aside.write_text(json.dumps(predictions, ensure_ascii=False) + "\n", encoding="utf-8")


def _loaded(file: str | Path) -> Any:
    text = StringIO()  # takes less than all lines do
    for _, line in open_text(file, corpus_hint=CORPUS_HINT, longest=None):
        text.write(f"{line}\n")
    try:
        return loaded(text.getvalue())
    except NOT_JSON as error:
        number = getattr(error, "lineno", None)
        raise InputError(f"this is not JSON: {json_problem(error)}", file=file, line=number) from None


def _questions(root: Any, file: str) -> Iterator[Question]:
    for number, article in enumerate(_get(root, "data", list, file, "the file"), start=1):
        name = f"article {number}"
        title = _get(article, "title", str, file, name) if _has(article, "title") else ""
        name = f"article {shown(title)}" if title else name
        for place, paragraph in enumerate(_get(article, "paragraphs", list, file, name), start=1):
            where = f"{name}, paragraph {place}"
            context = _text(paragraph, "context", file, where)
            for count, asked in enumerate(_get(paragraph, "qas", list, file, where), start=1):
                identifier = _text(asked, "id", file, f"{where}, question {count}")
                yield _question(asked, identifier, context, file, f"{where}, question {identifier[:_SHOWN]}")


def _question(asked: Any, identifier: str, context: str, file: str, where: str) -> Question:
    answers = _get(asked, "answers", list, file, where)
    if _has(asked, "is_impossible") and _get(asked, "is_impossible", bool, file, where):
        answers = []
    golds = tuple(_answer(answer, context, file, where) for answer in answers)
    return Question(identifier, _text(asked, "question", file, where), context, golds, where)


def _answer(answer: Any, context: str, file: str, where: str) -> Answer:
    found = Answer(_text(answer, "text", file, where), _get(answer, "answer_start", int, file, where))
    if not 0 <= found.start < len(context):
        problem = f"'answer_start' {shown(found.start)} lies outside the paragraph of {len(context)} characters"
        raise InputError(f"{where}: {problem}", file=file)
    return found


def _text(holder: Any, key: str, file: str, where: str) -> str:
    text: str = _get(holder, key, str, file, where)
    if problem := text_problem(text):
        raise InputError(f"{where}: {key!r} {problem}", file=file)
    return text


def _get(holder: Any, key: str, wanted: type, file: str, where: str) -> Any:
    if not isinstance(holder, dict):
        raise InputError(f"{where}: an object with {key!r} was wanted, found {shown(holder)}", file=file)
    if key not in holder:
        raise InputError(f"{where}: {key!r} is missing, found {shown(sorted(holder))}", file=file)
    value = holder[key]
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise InputError(f"{where}: {key!r} must be of type {wanted.__name__}, found {shown(value)}", file=file)
    return value


def _has(holder: Any, key: str) -> bool:
    return isinstance(holder, dict) and key in holder
