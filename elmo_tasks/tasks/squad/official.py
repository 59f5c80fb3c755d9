"""
The official SQuAD files: questions from a data file, answers into a predictions file.
"""

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from allennlp.evaluation import Evaluator
from pydantic import BaseModel, FailFast, TypeAdapter

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.json_files import parse_json
from elmo_tasks.formats.text.text_files import open_text
from elmo_tasks.settings import Text, validated
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
    answers: tuple[GoldAnswer, ...]
    """One or more, possibly equal; none if the question has no answer."""

    unit: int | None = None
    """The number of its article; of its paragraph in a file with a single article."""


class _SquadAnswer(BaseModel):
    text: Text
    answer_start: int


class _SquadQuestion(BaseModel):
    id: Text
    question: Text
    answers: Annotated[list[_SquadAnswer], FailFast()]


class _SquadParagraph(BaseModel):
    context: Text
    qas: Annotated[list[_SquadQuestion], FailFast()]


class _SquadArticle(BaseModel):
    paragraphs: Annotated[list[_SquadParagraph], FailFast()]


class _SquadFile(BaseModel):
    data: Annotated[list[_SquadArticle], FailFast()]


_FILE = TypeAdapter(_SquadFile)


def read_questions(file: str | Path) -> Iterator[Question]:
    """
    All questions of a file in the format of SQuAD v1.1 or v2.0, plain or gzip. Raises
    `InputError` as `open_text` does; if the file is not JSON; with the path of the
    value, if one is missing or invalid; if an id occurs twice, or there is no question.
    """
    seen: set[str] = set()
    text = StringIO()  # takes less memory than a list of lines
    for _, line in open_text(file, corpus_hint=CORPUS_HINT, longest=None):
        text.write(f"{line}\n")
    content = parse_json(text.getvalue(), file=file)
    articles = validated(_FILE, content, "the file", file=file).data
    for article_number, article in enumerate(articles):
        for paragraph_number, paragraph in enumerate(article.paragraphs):
            unit = article_number
            if len(articles) == 1:
                unit = paragraph_number
            for asked in paragraph.qas:
                if asked.id in seen:
                    problem = f"question {shown(asked.id)}: duplicate id"
                    raise InputError(problem, file=file)
                seen.add(asked.id)
                yield _question(asked, paragraph.context, unit)
    if not seen:
        raise InputError("expected questions, got none", file=file, hint=CORPUS_HINT)


def _question(asked: _SquadQuestion, context: str, unit: int) -> Question:
    answers = []
    for answer in asked.answers:
        answers.append(GoldAnswer(answer.text, answer.answer_start))
    return Question(asked.id, asked.question, context, tuple(answers), unit)


def best_text(spans: list[dict[str, Any]]) -> str:
    """The answer that is scored, of a question's answers, best first: none is empty."""
    if not spans:
        return ""
    text: str = spans[0]["text"]
    return text


@Evaluator.register("elmo_tasks_squad")
class SquadEvaluator(OfficialEvaluator):
    """
    Writes the file that the official script scores, one object from id to text; see
    `OfficialEvaluator`.
    """

    answers = "spans"

    def text(self, answers: Answers) -> str:
        best = {known["id"]: best_text(spans) for known, spans in answers}
        return json.dumps(best, ensure_ascii=False) + "\n"
