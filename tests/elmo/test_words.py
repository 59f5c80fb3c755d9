"""How `Elmo` splits texts into words, and what it warns of."""

import json
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy

from elmo_tasks.elmo import Elmo, ElmoVectors
from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.raw_text import Tokenizer
from tests.elmo.samples import write_bilm
from tests.test_flow import elmo_tasks

RAW = ["She can't hear the play.", "It ended."]
SPLIT = [["She", "ca", "n't", "hear", "the", "play", "."], ["It", "ended", "."]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return write_bilm(tmp_path_factory.mktemp("bilm"))


@pytest.fixture(scope="module")
def open_elmo(files: tuple[str, str]) -> Callable[..., Elmo]:
    return partial(Elmo.from_files, *files)


@pytest.fixture
def elmo(open_elmo: Callable[..., Elmo]) -> Elmo:
    return open_elmo()


def by_letters(text: str) -> list[str]:
    return [letter for letter in text if letter.isalnum()]


TOKENIZERS: dict[str, tuple[Tokenizer, list[list[str]], str]] = {
    "whitespace": ("whitespace", [text.split() for text in RAW], "white space"),
    "basic": ("basic", SPLIT, "basic 1"),
    "spaCy's rules": ("spacy:en", SPLIT, f"spaCy {spacy.__version__}, blank en"),
    "a spaCy language": (
        spacy.blank("en"),
        SPLIT,
        f"spaCy {spacy.__version__}, en_pipeline",
    ),
    "a function": (by_letters, [by_letters(text) for text in RAW], "by_letters"),
}


@pytest.mark.parametrize("name", TOKENIZERS)
def test_each_method_takes_each_tokenizer(
    open_elmo: Callable[..., Elmo], tmp_path: Path, name: str
) -> None:
    tokenizer, words, recorded = TOKENIZERS[name]
    plain = open_elmo()
    for elmo, given in (
        (plain, {"tokenizer": tokenizer}),
        (open_elmo(tokenizer=tokenizer), {}),
    ):
        assert elmo.words(RAW, **given) == words
        vectors = plain.embed(words, layers="top")
        found = elmo.embed(RAW, layers="top", **given)
        assert all(map(np.array_equal, found, vectors))
        column = elmo.embed_batch({"text": RAW}, column="text", layers="top", **given)
        assert all(map(np.array_equal, column["elmo"], vectors))
        pooled = elmo.embed_sentences(RAW, layers="top", **given)
        assert np.array_equal(pooled, plain.embed_sentences(words, layers="top"))
        known = list(dict.fromkeys(words[1]))
        means = elmo.mean_vectors(RAW, known, layers="top", **given)
        assert np.array_equal(means, plain.mean_vectors(words, known, layers="top"))
        out = tmp_path / f"{len(given)}.hdf5"
        elmo.write(enumerate(RAW, 1), out, settings={"input": "text"}, **given)
        with ElmoVectors(out) as written:
            assert [written.tokens(0), written.tokens(1)] == words
            assert written.info["tokenizer"] == recorded


def test_a_pickle_has_the_tokenizer(open_elmo: Callable[..., Elmo]) -> None:
    for tokenizer in ("basic", by_letters):
        elmo = open_elmo(tokenizer=tokenizer)
        assert pickle.loads(pickle.dumps(elmo)).words(RAW) == elmo.words(RAW)


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        ("basics", "tokenizer: expected whitespace, basic, spacy:.*, got 'basics'"),
        (5, "tokenizer: expected whitespace, .*, got 5"),
        ("spacy:zz", "expected a language that spaCy has rules for, got 'zz'"),
        (str.upper, "expected a function that returns a list of strings, got .SHE"),
        (
            spacy.blank("en").tokenizer,
            "list of strings, got She .*the Language object itself",
        ),
        (lambda text: [1], r"list of strings, got \[1\]"),
    ],
)
def test_invalid_tokenizers(elmo: Elmo, tokenizer: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        elmo.embed(RAW, tokenizer=tokenizer)


LISTS_OF_WORDS: list[list[str]] = [
    ["She", "heard", "the", "play", "."],
    ["She", "heard", "the", "play"],
    ["It", "ended"],
    ["the", "play", "ended"],
    ["Il", "pleut", "."],
    ["我", "听", "了", "戏", "。"],
    ["वह", "खेल", "सुना", "।"],
    ["She", "heard", "the", "play."],
]

RAW_TEXTS: list[list[str]] = [
    ["She heard the play."],
    ["Hello, world"],
    ["It ended!", "Why?"],
    ['"It ended."'],
    ["She heard (the play)."],
    ["वह खेल सुना।"],
    ["لماذا؟"],
    ["In 1990, it ended"],
    ["She heard the play.", ["It", "ended", "."]],
]

RIGHT_CALLS: list[list[Any]] = [
    [],
    ["one"],
    ["Yes", "No"],
    [["Yes"], ["No"]],
    [["the"], ["play"], ["ended"], ["."]],
    [["She", "heard", "the", "play."]],
    ["She heard the play ."],
    ["She heard the play"],
    ["It ended .", "Yes"],
    ["It is 3.14", "They don't", "He left the U.S.", "It is 5 p.m.", "the 3."],
    ["Mr. Smith saw John Smith Jr.", "apples , pears etc.", "J. Smith"],
    ["我听了戏。", "你好"],
    ["我听了戏,很好!"],
    ["สวัสดีครับ!"],
    ["https://example.org/a,b"],
    [". . .", "--", "?"],
    ["No . 1 , 2"],
]


def warnings_of(
    elmo: Elmo, sentences: Any, caplog: pytest.LogCaptureFixture
) -> list[str]:
    """What the first call logs; the others log nothing."""
    elmo.embed(sentences)
    found = [record.getMessage() for record in caplog.records]
    elmo.embed(sentences)
    elmo.embed_sentences(sentences)
    assert len(caplog.records) == len(found)
    return found


@pytest.mark.parametrize("words", LISTS_OF_WORDS, ids=" ".join)
def test_a_list_of_words_is_reported_once(
    elmo: Elmo, words: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    found = warnings_of(elmo, words, caplog)
    assert len([text for text in found if "elmo.embed([words])" in text]) == 1
    assert f"read as {len(words)} sentences" in found[0]


@pytest.mark.parametrize("texts", RAW_TEXTS, ids=str)
def test_raw_text_is_reported_once(
    elmo: Elmo, texts: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    (found,) = warnings_of(elmo, texts, caplog)
    assert "seems not to be tokenised" in found and "tokenizer='basic'" in found


@pytest.mark.parametrize("sentences", RIGHT_CALLS, ids=str)
def test_right_calls_are_not_reported(
    elmo: Elmo, sentences: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    assert warnings_of(elmo, sentences, caplog) == []


@pytest.mark.parametrize("texts", RAW_TEXTS, ids=str)
def test_raw_text_for_a_tokenizer_is_not_reported(
    open_elmo: Callable[..., Elmo], texts: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    assert warnings_of(open_elmo(tokenizer="basic"), texts, caplog) == []


def test_a_few_attached_marks_in_tokenised_text_are_not_reported(
    elmo: Elmo, caplog: pytest.LogCaptureFixture
) -> None:
    elmo.embed(["It ended , and she left ."] * 10)
    elmo.embed(["Yahoo! Groups is theirs ."])
    elmo.embed(["She asked Yahoo!"])
    assert caplog.records == []
    elmo.embed(["She heard the play."])
    (record,) = caplog.records
    assert "3 of 82 tokens end in punctuation" in record.getMessage()


def test_lines_of_one_word_are_reported(
    elmo: Elmo, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {"input": "text"}
    lines = ["She", "left", ".", "", "It", "ended", "."]
    elmo.write(enumerate(lines, 1), tmp_path / "words", settings=settings)
    (record,) = caplog.records
    assert "each line has only one word, such as 'She'" in record.getMessage()
    elmo.write(enumerate(["Mira", "Tarn"], 1), tmp_path / "names", settings=settings)
    elmo.write([(1, "It ended.")], tmp_path / "raw", settings=settings)
    assert "seems not to be tokenised" in caplog.records[-1].getMessage()
    assert len(caplog.records) == 2


def test_the_command_splits_as_python_does(
    files: tuple[str, str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bilm = ("--model", "+".join(files))
    (tmp_path / "text").write_text("\n".join(RAW) + "\n")
    as_json = [json.dumps({"tokens": text}) for text in RAW]
    (tmp_path / "json").write_text("\n".join(as_json) + "\n")
    at_blanks = [text.split() for text in RAW]
    for name, options, words in (
        ("text", ("--tokenizer", "basic"), SPLIT),
        ("text", ("--tokenizer", "spacy:en"), SPLIT),
        ("text", ("--input-format", "text"), SPLIT),
        ("text", ("--input-format", "text", "--tokenizer", "basic"), SPLIT),
        ("json", ("--input-format", "json", "--tokenizer", "basic"), SPLIT),
        ("json", ("--input-format", "json", "--tokenizer", "spacy:en"), SPLIT),
        ("text", (), at_blanks),
        ("json", ("--input-format", "json"), at_blanks),
    ):
        elmo_tasks(
            "elmo", tmp_path / name, tmp_path / "out", *bilm, *options, "--force"
        )
        with ElmoVectors(tmp_path / "out") as vectors:
            assert [vectors.tokens(0), vectors.tokens(1)] == words
    raw = [record for record in caplog.records if "not to be" in record.getMessage()]
    assert len(raw) == 2
    assert all("--tokenizer basic" in record.getMessage() for record in raw)
    with pytest.raises(InputError, match="tokenizer: expected whitespace, basic"):
        elmo_tasks("elmo", tmp_path / "text", tmp_path / "x", *bilm, "--tokenizer", "x")
