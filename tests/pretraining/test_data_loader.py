"""Readers, vocabulary and data loader of a language model's config."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.data import DatasetReader, Instance, Token, Vocabulary
from allennlp.data.fields import Field, LabelField, ListField, TextField

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.components.allennlp_vocabulary import LmVocabulary
from elmo_tasks.pretraining.components.data_loader import LmDataLoader
from elmo_tasks.pretraining.components.reader import (
    LmReader,
    TaskTextReader,
    text_files,
)


@pytest.fixture
def file(tmp_path: Path) -> str:
    """56 predictions a direction."""
    lines = [f"a b{number} c d e f" for number in range(8)]
    (tmp_path / "x.txt").write_text("\n".join(lines) + "\n")
    return str(tmp_path / "x.txt")


def loader(file: str, **keys: Any) -> LmDataLoader:
    made = LmDataLoader(
        LmReader(), file, **{"batch_size": 2, "unroll": 4, "seed": 3, **keys}
    )
    made.index_with(LmVocabulary.from_corpus(files=file))
    return made


def targets(items: Iterator[dict[str, Any]]) -> list[Any]:
    found = []
    for item in items:
        found.append(item["batch"].targets.tolist() if item else None)
    return found


def test_steps_of_an_epoch(file: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "elmo_tasks")
    assert len(loader(file)) == 56 // 8
    assert "56 predictions per pass: 7 steps per epoch" in caplog.messages
    assert len(loader(file, batch_size=3, unroll=5)) == 3
    assert len(loader(file, batch_size=50)) == 1
    assert len(loader(file, steps_per_epoch=100)) == 100
    assert len(loader(file, batch_size=1, unroll=20)) == 2
    made = LmDataLoader(LmReader(), file, batch_size=1)
    assert len(made) == 56 // 20 and made.unroll == 20
    with pytest.raises(TypeError, match="the length of a single pass is not known"):
        len(loader(file, shuffle=False))


def test_the_order_depends_on_the_seed(file: str) -> None:
    first = targets(iter(loader(file)))
    assert first == targets(iter(loader(file))) != targets(iter(loader(file, seed=4)))
    torch.manual_seed(3)
    assert targets(iter(loader(file, seed=None))) == first
    passes = loader(file, shuffle=False)
    assert targets(iter(passes)) == targets(iter(passes)) != first


@pytest.mark.parametrize("skipped", [0, 1, 3, 5])
def test_a_resumed_epoch(skipped: int, file: str) -> None:
    whole = loader(file, steps_per_epoch=5)
    expected = targets(iter(whole)) + targets(iter(whole))
    made = loader(file, steps_per_epoch=5)
    items = iter(made)
    for _ in range(skipped):
        next(items)
    position = json.loads(json.dumps(made.position()))
    resumed = loader(file, steps_per_epoch=5)
    resumed.resume(position, batches=skipped)
    found = targets(iter(resumed)) + targets(iter(resumed))
    assert found == [None] * skipped + expected[skipped:]


def test_a_resumed_pass(file: str) -> None:
    made = loader(file, shuffle=False)
    expected = targets(iter(made))
    assert made.position() == {}
    made.resume({}, batches=2)
    assert targets(iter(made)) == [None, None, *expected[2:]]
    assert targets(iter(made)) == expected


def test_the_position_of_another_batch_size(file: str) -> None:
    position = loader(file).position()
    with pytest.raises(InputError, match="a checkpoint of batch_size 3, got one of 2"):
        loader(file, batch_size=3).resume(position, batches=0)


def test_a_released_stream_begins_again(file: str) -> None:
    made = loader(file, steps_per_epoch=2)
    first = targets(iter(made))
    assert targets(iter(made)) != first
    made.release()
    assert targets(iter(made)) == first


def test_more_batches_than_an_epoch_has(file: str) -> None:
    made = loader(file, steps_per_epoch=2)
    made.resume(made.position(), batches=9)
    assert targets(iter(made)) == [None, None]
    assert None not in targets(iter(made))


def test_the_start_of_a_text(file: str, tmp_path: Path) -> None:
    (tmp_path / "y.txt").write_text("g h\n" * 20)
    files = [file, str(tmp_path / "y.txt")]
    made = LmDataLoader(LmReader(), files, batch_size=1, shuffle=False, max_tokens=14)
    made.index_with(LmVocabulary.from_corpus(files=files))
    count = sum(int(item["batch"].mask[0].sum()) for item in made)
    assert count == 7 + 9  # whole sentences


def test_keys_that_do_not_go_together(file: str) -> None:
    for keys, problem in (
        ({"max_tokens": 5}, "max_tokens.* null with shuffle true, got 5"),
        (
            {"shuffle": False, "steps_per_epoch": 7},
            "steps_per_epoch.* null with shuffle false, got 7",
        ),
    ):
        with pytest.raises(InputError, match=problem):
            loader(file, **keys)
    (Path(file).parent / "blank.txt").write_text(" \n")
    with pytest.raises(InputError, match="blank.txt: no sentence in this file"):
        loader(str(Path(file).parent / "blank.txt"))


def test_keys_of_vocabularies_that_do_not_go_together(file: str) -> None:
    wanted = "file, or files with size or min_count"
    for keys, problem in (
        ({}, f"files.* {wanted}, got None"),
        ({"files": file, "file": file}, f"files.* {wanted}, got '"),
        ({"files": file, "size": 1, "min_count": 2}, r"got both \(1 and 2\)"),
        ({"file": file, "size": 1}, "file.* null with size or min_count, got "),
        ({"file": file, "min_count": 3}, "file.* null with size or min_count, got "),
    ):
        with pytest.raises(InputError, match=problem):
            LmVocabulary.from_corpus(**keys)


def words(vocabulary: LmVocabulary) -> list[str]:
    return vocabulary.to_words().words[3:]


def test_vocabularies_of_a_config(file: str, tmp_path: Path) -> None:
    assert words(LmVocabulary.from_corpus(files=file, size=3)) == ["a", "c", "d"]
    counted = LmVocabulary.from_corpus(files=[file], min_count=2)
    assert words(counted) == ["a", "c", "d", "e", "f"]
    counted.save_to_files(str(tmp_path / "vocabulary"))
    saved = tmp_path / "vocabulary"
    assert (saved / "non_padded_namespaces.txt").read_text() == "words\n"
    assert sorted(path.name for path in saved.iterdir()) == [
        "non_padded_namespaces.txt",
        "words.txt",
    ]
    counted.save_to_files(str(saved))  # again, when the run is resumed
    again = LmVocabulary.from_corpus(file=str(saved / "words.txt"))
    assert words(again) == words(counted)
    restored = Vocabulary.from_files(str(saved))
    assert restored.get_token_index("<UNK>", "words") == 2


def text(*names: str) -> TextField:
    return TextField([Token(name) for name in names], {})


class Pages(DatasetReader):
    """Instances with the fields that it is given, whatever the path is."""

    def __init__(self, *fields: dict[str, Field], **keys: Any) -> None:
        super().__init__(**keys)
        self.fields = fields

    def _read(self, file_path: Any) -> Iterator[Instance]:
        for fields in self.fields:
            yield Instance(fields)


def lines_of(reader: TaskTextReader, path: str = "x") -> list[str]:
    (file,) = reader.text_files(path)
    return file.read_text("utf-8").splitlines()


def test_texts_of_the_instances_of_a_task() -> None:
    sides = [[text("She", "left")], [text("It"), text("a\u00a0b \u2028c")]]
    page = ListField([ListField(side) for side in sides])
    pages = Pages(
        {"title": text("One"), "page": page},
        {"title": text("Two"), "page": page},
        {"title": text("Two"), "page": ListField([text("End")])},
        {"title": text("One"), "page": page},
    )
    whole = ["She left", "It", "a b c"]
    assert lines_of(TaskTextReader(pages, ["page"])) == [*whole, "End", *whole]
    assert lines_of(TaskTextReader(pages, ["title"])) == ["One", "Two", "One"]
    both = TaskTextReader(pages, ["title", "page"])
    assert lines_of(both) == ["One", *whole, "Two", "End", "One", *whole]


def test_texts_are_written_once_for_a_path() -> None:
    reader = TaskTextReader(Pages({"text": text("a")}), ["text"])
    first, again, other = (reader.text_files(path) for path in ("x", "x", "y"))
    assert first == again != other
    folder = first[0].parent
    assert sorted(path.name for path in folder.iterdir()) == [
        "text.0.txt",
        "text.1.txt",
    ]
    assert text_files(reader, "x") == first
    assert LmDataLoader(reader, "x", batch_size=1).files == first
    del reader
    assert not folder.exists()


def test_the_first_sentences_of_a_text(tmp_path: Path) -> None:
    """In its place, also for a vocabulary; of a task's text, too."""
    for name, lines in (("x", "a b\n c  d\n"), ("y", "e\nf\n")):
        (tmp_path / name).write_text(lines)
    pattern = str(tmp_path / "*")
    (file,) = LmReader(max_instances=3).text_files(pattern)
    assert not file.exists()  # as its reader
    reader = LmReader(max_instances=3)
    assert reader.text_files(pattern)[0].read_text() == "a b\nc d\ne\n"
    counted = LmVocabulary.from_corpus(files=pattern, reader=reader)
    assert sorted(words(counted)) == list("abcde")
    instances = [{"text": text(name)} for name in "abcde"]
    few = TaskTextReader(Pages(*instances), ["text"], max_instances=3)
    assert lines_of(few) == list("abc")


def test_fields_that_are_no_text() -> None:
    pages = Pages(
        {
            "text": text("a"),
            "label": LabelField("b"),
            "all": ListField([LabelField("b")]),
        }
    )
    for name, problem in (
        ("title", "expected a field 'title', got all, label, text"),
        ("label", "expected a text field 'label', got a LabelField"),
        ("all", "expected a text field 'all', got a LabelField"),
    ):
        with pytest.raises(InputError, match=problem):
            TaskTextReader(pages, [name]).text_files("x")


def be_process(monkeypatch: pytest.MonkeyPatch, rank: int, count: int) -> None:
    """As if this were one of so many processes."""
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: count)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: rank)


@pytest.mark.parametrize("keys", [{"steps_per_epoch": 2}, {"shuffle": False}])
def test_processes_share_rows(
    keys: dict[str, Any], file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have together the batches of one process."""
    whole = [item["batch"].targets for item in loader(file, batch_size=6, **keys)]
    parts = []
    for rank in range(3):
        be_process(monkeypatch, rank, 3)
        own = loader(file, batch_size=6, **keys)
        parts.append([item["batch"].targets for item in own])
    for expected, *found in zip(whole, *parts, strict=True):
        assert torch.equal(torch.cat(found, 2), expected)


def test_rows_that_the_processes_cannot_divide(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_process(monkeypatch, 0, 2)
    problem = "expected a batch_size that is a multiple of the 2 processes, got 5"
    with pytest.raises(InputError, match=f"data loader elmo_tasks_lm: {problem}"):
        LmDataLoader(LmReader(), file, batch_size=5)
