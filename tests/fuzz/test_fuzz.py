"""A short run of the fuzzer over every reader and loader; `make soak` has the long one."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from tests.fuzz.hostile import hostile
from tests.fuzz.outcome import SECONDS, fuzz, outcome
from tests.fuzz.subjects import Subject, subjects
from tests.memory import release

NAMES = [
    *("squad", "snli", "snli, parses", "sst", "ner", "srl", "coref", "word vectors"),
    *("word vectors by place", "text", "vocabulary", "biLM options", "biLM weights", "ELMo vectors", "senses"),
    *("senses with keys", "keys", "first senses", "CoNLL-U", "word/tag", "archive", "archived weights"),
    "archived config",
]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Subject]]:
    yield subjects(tmp_path_factory.mktemp("sound"))


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_read_or_refused(name: str, sound: dict[str, Subject], tmp_path: Path) -> None:
    subject = sound[name]
    assert outcome(subject, subject.sample, tmp_path) == "read"
    counts, faults = fuzz(subject, count=6 if "archive" in name else 60, seed=7, folder=tmp_path)
    assert not faults, {fault: data[:500] for fault, data in faults.items()}
    assert counts["refused"]


@pytest.mark.parametrize("name", [name for name in NAMES if "archive" not in name])
def test_what_no_reader_expects_takes_no_more_memory_than_ten_times_the_file(
    name: str, sound: dict[str, Subject], tmp_path: Path
) -> None:
    subject = sound[name]
    files = hostile(subject.sample, 60_000)
    release()
    found = {label: outcome(subject, data, tmp_path, seconds=6 * SECONDS) for label, data in files.items()}
    assert set(found.values()) <= {"read", "refused"}, found
    assert "refused" in found.values()


def test_every_subject_is_tried(sound: dict[str, Subject]) -> None:
    assert list(sound) == NAMES


def test_the_fuzzer_sees_what_it_looks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def taken(error: Exception) -> str:
        def read(file: Path) -> None:
            raise error

        return outcome(Subject(b"", read), b"x", tmp_path)

    assert taken(InputError("no")) == "refused"
    assert taken(KeyError("a")) == "KeyError: 'a'"
    assert taken(InputError("\n".join(["x" * 400] * 10))).startswith("a message of 4009 characters")
    assert outcome(Subject(b"", _for_ever), b"x", tmp_path, seconds=0.2) == "took longer than 0 s"
    monkeypatch.setattr("tests.fuzz.outcome.FLOOR", 2e6)
    # More than malloc ever takes from its own heap, where it may have that much left over from other tests.
    assert outcome(Subject(b"", lambda file: bytearray(b"x" * 10**8)), b"x", tmp_path).startswith("took ")


def _for_ever(_: Path) -> None:
    while True:
        pass


def test_messages_are_legible() -> None:
    shown = str(InputError("found \x1b[31m\t" + "y" * 10_000, file="a.txt", line=3))
    assert shown.startswith(r"a.txt:3: found \x1b[31m\tyyy") and shown.endswith("yyy") and 500 < len(shown) < 530
    assert json.loads(json.dumps(str(InputError("two\nlines")))) == "two\nlines"
