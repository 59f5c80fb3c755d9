"""The SNLI reader: exact fields, both tokenizations, dropped pairs, invalid lines."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.errors import InputError
from elmo_tasks.tasks.snli.predictor import SnliPredictor
from elmo_tasks.tasks.snli.reader import SnliReader, leaves
from tests.models import metadata
from tests.tiny import FIXTURES

FIXTURE = FIXTURES / "snli" / "snli_1.0_train.jsonl"
PAIR = {"gold_label": "neutral", "sentence1": "A dog barks.", "sentence2": "It rains."}


def write(folder: Path, *records: Any) -> Path:
    text = ""
    for record in records:
        if not isinstance(record, str):
            record = json.dumps(record)
        text += record + "\n"
    file = folder / "pairs.jsonl"
    file.write_text(text)
    return file


def test_fields_from_raw_sentences() -> None:
    instances = list(SnliReader().read(FIXTURE))
    premises = [
        "Two girls in red coats feed the ducks .",
        "The baker ( Mr Oakes ) ca n't find his hat .",
        "Three boats cross the bay at dusk .",
    ]
    hypotheses = [
        "Girls feed birds .",
        "A baker has found his hat",
        "The boats carry herring .",
    ]
    labels = ["entailment", "contradiction", "neutral"]
    assert len(instances) == 3
    for place, line in enumerate((1, 3, 4)):
        instance = instances[place]
        premise = premises[place].split()
        hypothesis = hypotheses[place].split()
        assert [token.text for token in instance["premise"]] == premise
        assert [token.text for token in instance["hypothesis"]] == hypothesis
        assert instance["label"].label == labels[place]
        assert metadata(instance) == {
            "premise": premise,
            "hypothesis": hypothesis,
            "label": labels[place],
            "file": str(FIXTURE),
            "line": line,
        }


@pytest.mark.parametrize(("language", "words"), [("en", 2), ("zh", 12)])
def test_clauses_that_are_not_split_are_counted(
    language: str, words: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = write(tmp_path, PAIR, PAIR | {"sentence1": "一个男人正在公园里吃饭。"})
    _, second = SnliReader(language=language).read(file)
    assert len(metadata(second)["premise"]) == words
    found = [record.getMessage() for record in caplog.records]
    assert len(found) == (language == "en")
    for text in found:
        assert "1 of 2 pairs, such as that of line 2, have clauses" in text


def test_words_from_parses(tmp_path: Path) -> None:
    instances = list(SnliReader(tokenization="parse").read(FIXTURE))
    assert (
        " ".join(metadata(instances[1])["premise"])
        == "The baker ( Mr Oakes ) ca n't find his hat ."
    )
    assert leaves("( ( A dog ) ( barks . ) )") == ["A", "dog", "barks", "."]
    assert leaves("( :-RRB- ( dog-LRB-s-RRB- -RRB- ) )") == [
        ":-RRB-",
        "dog-LRB-s-RRB-",
        ")",
    ]
    with pytest.raises(InputError, match=":1: 'sentence1_binary_parse'"):
        list(SnliReader(tokenization="parse").read(write(tmp_path, PAIR)))


def test_dropped_pairs_may_be_blank_but_not_all(tmp_path: Path) -> None:
    dropped = {"gold_label": "-", "sentence1": "", "sentence2": ""}
    assert len(list(SnliReader().read(write(tmp_path, PAIR, dropped)))) == 1
    for records in ([], [dropped, dropped]):
        with pytest.raises(InputError, match="pairs.jsonl: expected pairs, got none"):
            list(SnliReader().read(write(tmp_path, *records)))


def test_files_without_labels_and_with_some(tmp_path: Path) -> None:
    bare = {key: PAIR[key] for key in ("sentence1", "sentence2")}
    null = bare | {"gold_label": None}
    dropped = bare | {"gold_label": "-"}
    assert len(list(SnliReader().read(write(tmp_path, bare, null, "")))) == 2
    for records, line, problem in (
        ([PAIR, dropped, bare], 3, "expected a 'gold_label' as on line 1, got none"),
        ([dropped, null], 2, "expected a 'gold_label' as on line 1, got none"),
        (["", bare, PAIR], 3, "expected no 'gold_label' as on line 2, got one"),
    ):
        with pytest.raises(InputError, match=f"pairs.jsonl:{line}: {problem}"):
            list(SnliReader().read(write(tmp_path, *records)))


def test_blanks_in_the_words_of_parses() -> None:
    parse = "( 1\u00a01/2 ( a\u2028b  c\x85d\t) )"
    assert leaves(parse) == ["1\u00a01/2", "a\u2028b", "c\x85d"]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("[]", "the pair: expected an object"),
        (
            PAIR | {"gold_label": "maybe"},
            "'gold_label': expected 'entailment', .*got 'maybe'",
        ),
        (
            {"gold_label": "neutral", "sentence1": "x"},
            "'sentence2': expected a valid string, got None",
        ),
    ],
)
def test_invalid_lines(tmp_path: Path, record: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"pairs.jsonl:2: .*{message}"):
        list(SnliReader().read(write(tmp_path, PAIR, record, PAIR)))


def test_predictions_split_raw_text_as_the_reader_does() -> None:
    predictor = SnliPredictor(torch.nn.Linear(1, 1), SnliReader(language="zh"))
    inputs = {"premise": "一个男人在吃饭", "hypothesis": ["他", "吃饭"]}
    instance = predictor._json_to_instance(inputs)
    assert metadata(instance)["premise"] == list("一个男人在吃饭")
    assert metadata(instance)["hypothesis"] == ["他", "吃饭"]
