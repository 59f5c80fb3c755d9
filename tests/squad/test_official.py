"""Official files: valid and invalid data, predictions."""

import json
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.tasks.squad.official import read_questions
from tests.squad.samples import FIXTURES


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"data":', '"date":', "the file: expected a value for data, got"),
        ('"id": "or-5"', '"id": "or-4"', "question 'or-4': duplicate id"),
        (
            '"answer_start": 82',
            '"answer_start": true',
            r"the file.data.0..*answer_start: expected a valid integer",
        ),
    ],
)
def test_invalid_values(tmp_path: Path, old: str, new: str, message: str) -> None:
    content = json.dumps(
        json.loads((FIXTURES / "dev-v1.1.json").read_text(encoding="utf-8"))
    )
    assert old in content
    (tmp_path / "broken.json").write_text(content.replace(old, new))
    with pytest.raises(InputError, match=f"broken.json: {message}"):
        list(read_questions(tmp_path / "broken.json"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"data": [\n\n}', ":3: expected JSON"),
        ('{"data": []}', ": expected questions, got none .SQuAD v1.1 is at"),
    ],
)
def test_invalid_json(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "broken.json").write_text(content)
    with pytest.raises(InputError, match=f"broken.json{message}"):
        list(read_questions(tmp_path / "broken.json"))
