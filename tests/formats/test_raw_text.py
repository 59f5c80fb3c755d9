"""
Raw text: its tokenizers, their warnings and errors.
"""

import sys
from typing import Any

import pytest
import spacy

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.raw_text import (
    SplitAtBlanks,
    blank_pipeline,
    open_tokenizer,
)

TEXT = "Mr. O'Neil didn't say so. "


@pytest.mark.parametrize(
    ("texts", "word"),
    [
        (["She left."], "left."),
        (["", "a b", "He said: “no.”", "It ended ."], "“no.”"),
        (["वह खेल सुना।"], "सुना।"),
        (["我听了戏，很好!"], "我听了戏，很好!"),
        ([], None),
        (["It ended .", "She left."], None),
        (["in the U.S.", "She saw Mr.", "apples , etc.", "well-known"], None),
    ],
)
def test_raw_text_that_is_split_at_blanks_is_reported_once(
    texts: list[str], word: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    """The first text that ends in punctuation decides."""
    split = SplitAtBlanks("use the tokenizer basic")
    for text in [*texts, *texts]:
        assert split(text) == text.split()
    expected = []
    if word is not None:
        what = f"the text seems not to be tokenised, as in {word!r}"
        expected.append(f"{what}; use the tokenizer basic")
    assert caplog.messages == expected


def test_languages_without_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="rules for, got 'zz': .*xx has rules for any"):
        blank_pipeline("zz")
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(InputError, match="spacy, or use the tokenizer basic"):
        blank_pipeline("la")


def by_letters(text: str) -> list[str]:
    return list(text)


@pytest.mark.parametrize(
    ("chosen", "words", "name"),
    [
        ("whitespace", ["don't.", "So"], "white space"),
        ("basic", ["do", "n't", ".", "So"], "basic 1"),
        ("spacy:en", ["do", "n't", ".", "So"], f"spaCy {spacy.__version__}, blank en"),
        (by_letters, list("don't. So"), "by_letters"),
        (str.split, ["don't.", "So"], "str.split"),
    ],
)
def test_tokenizers(chosen: Any, words: list[str], name: str) -> None:
    split, recorded = open_tokenizer(chosen)
    assert (split("don't. So"), recorded) == (words, name)


def test_a_language_of_spacy_is_a_tokenizer() -> None:
    split, recorded = open_tokenizer(spacy.blank("en", meta={"name": "mine"}))
    assert split(" don't  So") == ["do", "n't", "So"]
    assert recorded == f"spaCy {spacy.__version__}, en_mine"


@pytest.mark.parametrize("result", ["a b", None, [1], ["a", None], {"a"}])
def test_functions_that_return_no_words(result: Any) -> None:
    split, _ = open_tokenizer(lambda text: result)
    with pytest.raises(InputError, match="a list of strings, got .* for 'some text'"):
        split("some text")
    assert open_tokenizer(lambda text: ("a", "b"))[0]("x") == ["a", "b"]


@pytest.mark.parametrize("chosen", ["basics", "spacy", "", 5, None])
def test_what_is_no_tokenizer(chosen: Any) -> None:
    with pytest.raises(InputError, match="expected whitespace, basic, spacy:LANGUAGE"):
        open_tokenizer(chosen)


def test_long_runs_are_split_into_pieces() -> None:
    """The rules see no more than fifty characters of a run of more than a thousand."""
    tokenize = blank_pipeline("xx").tokenizer
    for length, expected in ((1000, 1), (1001, 21), (1050, 21)):
        assert len(tokenize("x" * length)) == expected
        assert tokenize(f"a {'x' * length} b").text == f"a {'x' * length} b"
