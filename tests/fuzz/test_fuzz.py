"""A short fuzzing run over every reader and loader; `make soak` has a long one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from elmo_tasks.tasks import TASKS
from tests.fuzz.hostile import hostile
from tests.fuzz.outcome import SECONDS, fuzz, outcome
from tests.fuzz.subjects import Subject, subjects
from tests.memory import release

NAMES = [
    *(*TASKS, "snli, parses", "srl, all predicates", "word vectors", "word vectors by place"),
    *("text", "vocabulary", "biLM options", "biLM weights", "ELMo vectors", "senses"),
    *("senses with keys", "keys", "first senses", "word/tag", "archive", "archived weights"),
    "archived config",
]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Subject]]:
    yield subjects(tmp_path_factory.mktemp("sound"))


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_read_or_rejected(name: str, sound: dict[str, Subject], tmp_path: Path) -> None:
    subject = sound[name]
    assert outcome(subject, subject.sample, tmp_path) == "read"
    counts, failures = fuzz(subject, count=6 if "archive" in name else 60, seed=7, folder=tmp_path)
    assert not failures, {failure: data[:500] for failure, data in failures.items()}
    assert counts["refused"]


@pytest.mark.parametrize("name", [name for name in NAMES if "archive" not in name])
def test_hostile_files_need_little_memory(name: str, sound: dict[str, Subject], tmp_path: Path) -> None:
    subject = sound[name]
    files = hostile(subject.sample, 60_000)
    release()
    outcomes = {label: outcome(subject, data, tmp_path, seconds=6 * SECONDS) for label, data in files.items()}
    assert set(outcomes.values()) <= {"read", "refused"}, outcomes
    assert "refused" in outcomes.values()


def test_names_are_complete(sound: dict[str, Subject]) -> None:
    assert list(sound) == NAMES


def test_other_exceptions_are_failures(tmp_path: Path) -> None:
    assert outcome(Subject(b"", lambda file: {}["a"]), b"x", tmp_path) == "KeyError: 'a'"
