"""Questions to instances: alignment, counts, what is refused."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from allennlp.data import DatasetReader, Instance
from allennlp.data.tokenizers import WhitespaceTokenizer

from elmo_tasks.errors import InputError
from elmo_tasks.squad.official import Answer
from elmo_tasks.squad.reader import NO_SPAN, SquadReader, align

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "squad"


def metadata(instance: Instance) -> dict[str, Any]:
    found: dict[str, Any] = instance.fields["metadata"].metadata
    return found


def span(instance: Instance) -> tuple[int, int]:
    return instance.fields["span_start"].sequence_index, instance.fields["span_end"].sequence_index


def words(instance: Instance, name: str = "passage") -> list[str]:
    return [token.text for token in instance.fields[name].tokens]


def cut(instance: Instance) -> str:
    """The text that the gold span covers."""
    (first, last), offsets = span(instance), metadata(instance)["offsets"]
    text: str = metadata(instance)["passage"][offsets[first][0] : offsets[last][1]]
    return text


def test_every_answer_of_the_fixtures_is_found() -> None:
    for name, count in (("train-v1.1.json", 7), ("dev-v1.1.json", 5)):
        instances = list(SquadReader().read(FIXTURES / name))
        assert len(instances) == count
        for instance in instances:
            assert cut(instance) == metadata(instance)["answers"][0]


def test_fields() -> None:
    instance = list(SquadReader().read(FIXTURES / "train-v1.1.json"))[2]
    assert set(instance.fields) == {"passage", "question", "span_start", "span_end", "metadata"}
    assert words(instance, "question") == ["What", "did", "she", "take", "with", "her", "?"]
    first, last = span(instance)
    assert words(instance)[first - 1 : last + 2] == ["“", "a", "lantern", "and", "a", "dog", "”"]
    assert metadata(instance)["id"] == "hb-3"
    assert metadata(instance)["where"].endswith("paragraph 1, question hb-3")
    assert set(instance.fields["passage"].token_indexers) == {"tokens", "token_characters", "elmo"}


OFFSETS = [(0, 3), (4, 7), (8, 11), (13, 16)]
PASSAGE = "one two six  ten"


@pytest.mark.parametrize(
    ("text", "start", "found"),
    [
        ("one", 0, (0, 0)),
        ("two six", 4, (1, 2)),
        ("wo s", 5, (1, 2)),
        ("e t", 2, (0, 1)),
        (" two ", 3, (1, 1)),
        ("ten", 13, (3, 3)),
        ("six  ten", 8, (2, 3)),
        (PASSAGE, 0, (0, 3)),
        ("two", 5, None),
        ("ten", -3, None),
        ("ten", 99, None),
        ("  ", 11, None),
        ("", 4, None),
    ],
)
def test_alignment(text: str, start: int, found: tuple[int, int] | None) -> None:
    assert align(Answer(text, start), PASSAGE, OFFSETS) == found


def test_alignment_equals_a_search_over_all_spans() -> None:
    for start in range(len(PASSAGE)):
        for end in range(start + 1, len(PASSAGE) + 1):
            touched = [i for i, (a, b) in enumerate(OFFSETS) if a < end and b > start]
            expected = (touched[0], touched[-1]) if touched else None
            assert align(Answer(PASSAGE[start:end], start), PASSAGE, OFFSETS) == expected


def test_an_answer_that_is_not_there_is_kept_without_a_span() -> None:
    golds = [Answer("the ferry", 2), Answer("ferry", 0)]
    instance = SquadReader().text_to_instance("What left?", "The ferry left.", golds)
    assert span(instance) == (NO_SPAN, NO_SPAN)
    assert metadata(instance)["answers"] == ["the ferry", "ferry"]


def test_the_first_answer_that_is_there_is_trained_on() -> None:
    golds = [Answer("ferry", 0), Answer("left", 10), Answer("The ferry", 0)]
    instance = SquadReader().text_to_instance("What?", "The ferry left.", golds)
    assert cut(instance) == "left"


def write(folder: Path, context: str, *golds: list[dict[str, Any]]) -> Path:
    asked = [{"id": f"q{i}", "question": "What?", "answers": answers} for i, answers in enumerate(golds)]
    data = {"data": [{"title": "T", "paragraphs": [{"context": context, "qas": asked}]}]}
    file = folder / "file.json"
    file.write_text(json.dumps(data))
    return file


def gold(text: str, start: int) -> dict[str, Any]:
    return {"text": text, "answer_start": start}


def test_counts_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    golds: tuple[list[dict[str, Any]], ...] = (
        [gold("ferry", 4)],
        [gold("fer", 4)],
        [gold("ferry", 5)],
        [],
        [gold("fer", 4), gold("ferry", 4)],
    )
    file = write(tmp_path, "The ferry left.", *golds)
    with caplog.at_level(logging.INFO, logger="elmo_tasks.squad.reader"):
        instances = list(SquadReader(drop_unanswerable=True).read(file))
    assert [metadata(instance)["id"] for instance in instances] == ["q0", "q1", "q2", "q4"]
    (message,) = [record.message for record in caplog.records if record.name == "elmo_tasks.squad.reader"]
    assert "4 questions; 1 without an answer dropped; 1 (25.00%) whose answer is not found" in message
    assert "; 1 whose answer ends inside a token" in message
    assert caplog.records[-1].levelname == "WARNING", "a quarter is many"


def test_no_answer_stands_where_it_should(tmp_path: Path) -> None:
    file = write(tmp_path, "The ferry left.", [gold("ferry", 5)], [gold("left", 9)])
    with pytest.raises(
        InputError, match=r"none of the answers stands in its paragraph .* \(answer_start counts the char"
    ):
        list(SquadReader().read(file))


def test_questions_without_an_answer_are_refused(tmp_path: Path) -> None:
    message = (
        r"dev-v2.0.json: article 'Orrick', paragraph 1, question or-6: a question without an answer "
        r"\(take a file of SQuAD v1.1, or set drop_unanswerable"
    )
    with pytest.raises(InputError, match=message):
        list(SquadReader().read(FIXTURES / "dev-v2.0.json"))
    assert len(list(SquadReader(drop_unanswerable=True).read(FIXTURES / "dev-v2.0.json"))) == 1


def test_raw_text_without_answers() -> None:
    instance = SquadReader().text_to_instance("What left?", "The ferry left.")
    assert set(instance.fields) == {"passage", "question", "metadata"}
    assert metadata(instance)["answers"] is None
    assert metadata(instance)["offsets"] == [(0, 3), (4, 9), (10, 14), (14, 15)]


@pytest.mark.parametrize(("question", "passage", "name"), [(" ", "x", "question"), ("x", "\n", "passage")])
def test_nothing_to_read(question: str, passage: str, name: str) -> None:
    with pytest.raises(InputError, match=f"the input: the {name} needs a word at least"):
        SquadReader().text_to_instance(question, passage)


def test_a_tokenizer_without_offsets() -> None:
    with pytest.raises(InputError, match="the tokenizer must tell where each token starts and ends"):
        SquadReader(tokenizer=WhitespaceTokenizer()).text_to_instance("What left?", "The ferry left.")


def test_max_instances() -> None:
    reader = SquadReader(max_instances=3)
    assert len(list(reader.read(FIXTURES / "train-v1.1.json"))) == 3
    assert DatasetReader.by_name("elmo_tasks_squad") is SquadReader
