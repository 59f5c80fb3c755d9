"""`allennlp evaluate` on data without labels: one clear error, never a score."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from allennlp.commands import main

from elmo_tasks.errors import InputError
from tests.archives.make import STORED
from tests.pretraining import toy
from tests.tiny import FIXTURES

ARCHIVES = STORED / "1"


def evaluate(task: str, data: Path, out: Path) -> None:
    with toy.own_terminal("evaluate", str(ARCHIVES / f"{task}.tar.gz"), str(data), "--output-file", str(out)):
        main(prog="allennlp")


def columns(file: str, change: Callable[[list[str]], list[str]]) -> str:
    """A column file with each word's line changed."""
    lines = (FIXTURES / file).read_text().splitlines()
    words = (line if not line or line.startswith("#") else "\t".join(change(line.split())) for line in lines)
    return "".join(f"{line}\n" for line in words)


def questions(**answers: list[object]) -> str:
    data = json.loads((FIXTURES / "squad/dev-v1.1.json").read_text())
    for question in (q for a in data["data"] for p in a["paragraphs"] for q in p["qas"]):
        del question["answers"]
        question |= answers
    return json.dumps(data)


def without_labels() -> str:
    pairs = map(json.loads, (FIXTURES / "snli/snli_1.0_train.jsonl").read_text().splitlines())
    return "".join(json.dumps({key: pair[key] for key in ("sentence1", "sentence2")}) + "\n" for pair in pairs)


UNLABELLED = {
    "ner, words alone": (
        "ner",
        columns("ner/eng.bio", lambda row: row[:1]),
        ":3: expected at least 2 columns, got 1 .*predict",
    ),
    "ner, no tags": (
        "ner",
        columns("ner/eng.bio", lambda row: row[:2]),
        ":3: expected a tag such as 'O'.* got 'NNP'",
    ),
    "ner, chunks last": (
        "ner",
        columns("ner/eng.bio", lambda row: row[:3]),
        "expected gold entities of the types LOC, MISC, ORG, PER, got ADVP 1, NP 8, PP 1, VP 3",
    ),
    "sst, one label": (
        "sst",
        "(3 (2 It) (3 works))\n(3 (2 It) (works))\n",
        ":2: expected a label from 0 to 4, got 'works'",
    ),
    "sst, text": ("sst", "It works .\n", ":1: expected an opening bracket, got 'It'"),
    "squad, empty": ("squad", questions(answers=[]), "question or-1: a question without an answer"),
    "squad, missing": ("squad", questions(), "question or-1: 'answers' is missing, found"),
    "snli": ("snli", without_labels(), "nothing to score: no pair has a gold label .*`allennlp predict`"),
    "srl": (
        "srl",
        columns("srl/tale.v4_gold_conll", lambda row: [*row[:6], "-", "-", "-", *row[9:11], "-"]),
        ": no predicate found .*`allennlp predict` takes raw text",
    ),
    "srl, no arguments": (
        "srl",
        columns("srl/tale.v4_gold_conll", lambda row: [*row[:11], "-"]),
        ":2: expected a column of arguments for each of 2 framesets, got 0",
    ),
    "coref": (
        "coref",
        columns("coref/stories.gold_conll", lambda row: [*row[:-1], "-"]),
        "nothing to score: no document has gold clusters .*`allennlp predict`",
    ),
}


@pytest.mark.parametrize("name", UNLABELLED)
def test_data_without_labels(name: str, tmp_path: Path) -> None:
    task, content, message = UNLABELLED[name]
    data, out = tmp_path / "data", tmp_path / "scores.json"
    data.write_text(content)
    with pytest.raises(InputError, match=message):
        evaluate(task, data, out)
    assert not out.exists()
