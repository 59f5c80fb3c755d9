"""The SST reader: phrases and sentences, five classes and two."""

from pathlib import Path
from typing import Any

import pytest
from allennlp.data import Instance

from elmo_tasks.errors import InputError
from elmo_tasks.sst.reader import SstReader
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

pytestmark = pytest.mark.usefixtures("heard_counts")


def metadata(instance: Instance) -> dict[str, Any]:
    return instance["metadata"].metadata


def read(file: Path = FIXTURE, **keys: Any) -> list[tuple[str, str]]:
    instances = list(SstReader(**keys).read(file))
    assert [metadata(i)["label"] for i in instances] == [i["label"].label for i in instances]
    assert [metadata(i)["words"] for i in instances] == [[token.text for token in i["tokens"]] for i in instances]
    return [(" ".join(metadata(i)["words"]), metadata(i)["label"]) for i in instances]


def test_sentences_and_phrases(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert read() == SENTENCES
    assert f"{FIXTURE}: 4 sentences, 44 phrases in all, 4 instances" in caplog.text
    assert read(min_phrase_length=4) == LONG_PHRASES
    assert len(read(min_phrase_length=1)) == 44
    (tmp_path / "twice.txt").write_text("(3 (2 a) (3 (3 good) (2 day)))\n" * 2)
    assert read(tmp_path / "twice.txt", min_phrase_length=2) == [("good day", "3"), ("a good day", "3")] * 2


def test_two_classes_leave_out_neutral_phrases() -> None:
    names = {"0": "negative", "1": "negative", "3": "positive", "4": "positive"}
    for shortest, expected in ((None, SENTENCES), (4, LONG_PHRASES)):
        assert read(min_phrase_length=shortest, classes=2) == [
            (t, names[label]) for t, label in expected if label != "2"
        ]


@pytest.mark.parametrize(
    ("keys", "problem"), [({"min_phrase_length": 99}, "of 99 words"), ({"classes": 2}, "2 labels")]
)
def test_nothing_left_to_read(tmp_path: Path, keys: dict[str, Any], problem: str) -> None:
    file = tmp_path / "train.txt"
    file.write_text("(2 (2 so) (2 so))\n(2 (4 well) (2 so))\n")
    with pytest.raises(InputError, match=f"train.txt: no .*{problem}"):
        list(SstReader(**keys).read(file))
