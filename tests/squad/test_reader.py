"""The SQuAD reader: fields, alignment of answers."""

import json
from pathlib import Path

import pytest
from allennlp.data import Instance

from elmo_tasks.errors import InputError
from elmo_tasks.tasks.squad.official import GoldAnswer
from elmo_tasks.tasks.squad.reader import NO_SPAN, SquadReader, align
from tests.models import metadata
from tests.squad.samples import FIXTURES


def span(instance: Instance) -> tuple[int, int]:
    start = instance.fields["span_start"].sequence_index
    return start, instance.fields["span_end"].sequence_index


def words(instance: Instance, name: str = "passage") -> list[str]:
    return [token.text for token in instance.fields[name].tokens]


def test_fields() -> None:
    instance = list(SquadReader().read(FIXTURES / "train-v1.1.json"))[2]
    assert set(instance.fields) == {
        "passage",
        "question",
        "span_start",
        "span_end",
        "metadata",
    }
    assert words(instance, "question") == [
        "What",
        "did",
        "she",
        "take",
        "with",
        "her",
        "?",
    ]
    first, last = span(instance)
    assert words(instance)[first - 1 : last + 2] == [
        "“",
        "a",
        "lantern",
        "and",
        "a",
        "dog",
        "”",
    ]
    assert metadata(instance)["id"] == "hb-3"
    assert set(instance.fields["passage"].token_indexers) == {
        "tokens",
        "token_characters",
        "elmo",
    }


OFFSETS = [(0, 3), (4, 7), (8, 11), (13, 16)]
PASSAGE = "one two six  ten"


def test_alignment_equals_a_search_over_all_tokens() -> None:
    for start in range(len(PASSAGE)):
        for end in range(start + 1, len(PASSAGE) + 1):
            touched = [i for i, (a, b) in enumerate(OFFSETS) if a < end and b > start]
            found = align(GoldAnswer(PASSAGE[start:end], start), PASSAGE, OFFSETS)
            if touched:
                assert found == (touched[0], touched[-1])
            else:
                assert found is None


CHINESE = "北京是中国的首都，也是文化中心。"


@pytest.mark.parametrize(
    ("language", "warning", "gold"),
    [
        ("en", "1 of 2 questions, such as b, begin or end inside a token", (0, 0)),
        ("zh", None, (3, 4)),
    ],
)
def test_answers_inside_a_token_are_counted(
    language: str,
    warning: str | None,
    gold: tuple[int, int],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked = [
        # One of the answers begins and ends with a token.
        ("a", [("文化", 11), (CHINESE, 0)]),
        ("b", [("中国", 3)]),
    ]
    questions = []
    for name, answers in asked:
        golds = [{"text": text, "answer_start": start} for text, start in answers]
        questions.append({"id": name, "question": "哪里？", "answers": golds})
    paragraph = {"context": CHINESE, "qas": questions}
    file = tmp_path / "zh.json"
    file.write_text(json.dumps({"data": [{"title": "a", "paragraphs": [paragraph]}]}))
    instances = list(SquadReader(language=language).read(file))
    assert span(instances[1]) == gold
    found = [record.getMessage() for record in caplog.records]
    assert len(found) == (warning is not None)
    if warning is not None:
        assert warning in found[0] and "language 'en'" in found[0]


def test_first_aligned_answer_is_the_gold_span() -> None:
    golds = [GoldAnswer("ferry", 0), GoldAnswer("left", 10), GoldAnswer("The ferry", 0)]
    instance = SquadReader().text_to_instance("What?", "The ferry left.", golds)
    assert span(instance) == (2, 2)
    instance = SquadReader().text_to_instance("What?", "The ferry left.", golds[:1])
    assert span(instance) == (NO_SPAN, NO_SPAN)
    assert metadata(instance)["answers"] == ["ferry"]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("left.", 11),
        ("left. And more", 10),
        ("ferry", 16),
        ("ferry", 10_000),
        ("The", -1),
        ("left", -6),
        ("x", 15),
        (" ", 15),
    ],
)
def test_an_answer_beyond_the_passage_is_not_trained_on(text: str, start: int) -> None:
    """The passage has 16 characters; the next gold answer is used instead."""
    passage = "The ferry left. "
    reader = SquadReader()
    beyond = GoldAnswer(text, start)
    sound = GoldAnswer("ferry left.", 4)
    alone = reader.text_to_instance("What?", passage, [beyond])
    assert span(alone) == (NO_SPAN, NO_SPAN)
    assert metadata(alone)["answers"] == [text]
    assert span(reader.text_to_instance("What?", passage, [beyond, sound])) == (1, 3)


def write(folder: Path, *golds: list[tuple[str, int]]) -> Path:
    asked = []
    for number, given in enumerate(golds):
        answers = [{"text": text, "answer_start": start} for text, start in given]
        asked.append({"id": f"q{number}", "question": "What?", "answers": answers})
    paragraph = {"context": "The ferry left.", "qas": asked}
    data = {"data": [{"title": "T", "paragraphs": [paragraph]}]}
    file = folder / "file.json"
    file.write_text(json.dumps(data))
    return file


def test_warns_of_lost_answers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    both = [("fer", 4), ("ferry", 4)]
    file = write(tmp_path, [("ferry", 4)], [("fer", 4)], [("ferry", 5)], both)
    ids = [metadata(instance)["id"] for instance in SquadReader().read(file)]
    assert ids == ["q0", "q1", "q2", "q3"]
    assert f"{file}: 1 of 4 questions, such as q2, have no answer" in caplog.text
    file = write(tmp_path, [("ferry", 5)], [("ferry", 3)])
    with pytest.raises(
        InputError, match="json: expected answers at their offsets .*none of 1"
    ):
        list(SquadReader(max_instances=1).read(file))
    with pytest.raises(
        InputError, match="file.json: question 'q0': expected an answer, got none"
    ):
        list(SquadReader().read(write(tmp_path, [])))
