from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.tasks.sst.reader import SstReader
from tests.models import metadata
from tests.tiny import FIXTURES

FIXTURE = FIXTURES / "sst" / "trees.txt"

SENTENCES = [
    ("The ferry ran on time .", "3"),
    ("Oakes 's third novel ( 1/2 ) is not good at all", "1"),
    ("Splendid", "4"),
    ("The soup came at noon", "2"),
]
LONG_PHRASES = [
    ("ran on time .", "3"),
    ("The ferry ran on time .", "3"),
    ("third novel ( 1/2 )", "2"),
    ("not good at all", "0"),
    ("is not good at all", "0"),
    ("third novel ( 1/2 ) is not good at all", "1"),
    ("Oakes 's third novel ( 1/2 ) is not good at all", "1"),
    ("The soup came at noon", "2"),
]


def read(file: Path = FIXTURE, **keys: Any) -> list[tuple[str, str]]:
    found = []
    for instance in SstReader(**keys).read(file):
        known = metadata(instance)
        assert known["label"] == instance["label"].label
        assert known["words"] == [token.text for token in instance["tokens"]]
        found.append((" ".join(known["words"]), known["label"]))
    return found


def test_sentences_and_phrases(tmp_path: Path) -> None:
    assert read() == SENTENCES
    assert read(min_phrase_length=4) == LONG_PHRASES
    assert len(read(min_phrase_length=1)) == 44
    (tmp_path / "twice.txt").write_text("(3 (2 a) (3 (3 good) (2 day)))\n" * 2)
    assert (
        read(tmp_path / "twice.txt", min_phrase_length=2)
        == [("good day", "3"), ("a good day", "3")] * 2
    )


def test_no_phrase_is_long_enough() -> None:
    with pytest.raises(InputError, match="phrases of 99 words"):
        read(min_phrase_length=99)
