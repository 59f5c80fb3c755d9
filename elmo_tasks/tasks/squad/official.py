"""The official SQuAD files: questions from a data file, answers into a predictions file."""

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Annotated, NamedTuple

from allennlp.evaluation import Evaluator
from pydantic import BaseModel, FailFast, TypeAdapter

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.json_values import Text, parse_json, validate
from elmo_tasks.formats.text_files import open_text
from elmo_tasks.tasks.evaluator import Answers, OfficialEvaluator

CORPUS_HINT = "SQuAD v1.1 is at https://rajpurkar.github.io/SQuAD-explorer/"


class GoldAnswer(NamedTuple):
    """A gold answer: its text, and the character of the paragraph where it starts."""

    text: str
    start: int


class Question(NamedTuple):
    """A question about a paragraph, its context."""

    id: str  # unique in its file
    text: str
    context: str
    answers: tuple[
        GoldAnswer, ...
    ]  # one or more, possibly equal; none if the question has no answer


class _Answer(BaseModel):
    text: Text
    answer_start: int


class _Question(BaseModel):
    id: Text
    question: Text
    answers: Annotated[list[_Answer], FailFast()]


class _Paragraph(BaseModel):
    context: Text
    qas: Annotated[list[_Question], FailFast()]


class _Article(BaseModel):
    paragraphs: Annotated[list[_Paragraph], FailFast()]


class _File(BaseModel):
    data: Annotated[list[_Article], FailFast()]


_FILE = TypeAdapter(_File)


def read_questions(file: str | Path) -> Iterator[Question]:
    """
    All questions of a file in the format of SQuAD v1.1 or v2.0, plain or gzip. Raises `InputError` as `open_text` does;
    if the file is not JSON; with the path of the value, if one is missing or invalid; if an id occurs twice, or there
    is no question.
    """
    seen: set[str] = set()
    text = StringIO()  # takes less memory than a list of lines
    text.writelines(
        f"{line}\n"
        for _, line in open_text(file, corpus_hint=CORPUS_HINT, longest=None)
    )
    articles = validate(
        _FILE, parse_json(text.getvalue(), file=file), "the file", file=file
    ).data
    paragraphs = (one for article in articles for one in article.paragraphs)
    for paragraph, asked in ((one, asked) for one in paragraphs for asked in one.qas):
        if asked.id in seen:
            raise InputError(f"question {shown(asked.id)}: duplicate id", file=file)
        seen.add(asked.id)
        golds = tuple(
            GoldAnswer(answer.text, answer.answer_start) for answer in asked.answers
        )
        yield Question(asked.id, asked.question, paragraph.context, golds)
    if not seen:
        raise InputError("expected questions, got none", file=file, hint=CORPUS_HINT)


@Evaluator.register("elmo_tasks_squad")
class SquadEvaluator(OfficialEvaluator):
    """Writes the file that the official script scores, one object from id to text; see `OfficialEvaluator`."""

    answers = "spans"

    def text(self, answers: Answers) -> str:
        best = {
            known["id"]: spans[0]["text"] if spans else "" for known, spans in answers
        }
        return json.dumps(best, ensure_ascii=False) + "\n"
