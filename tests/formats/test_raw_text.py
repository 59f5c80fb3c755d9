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
    end_of_text,
    is_without_blanks,
    known_language,
    line_parser,
    open_tokenizer,
)

RAW = [
    ["She left."],
    ["She left!", "a", "He said: “no.”"],
    ["a", "b", "It ended!", "Nobody came.", "(So?)"],
    ["वह खेल सुना।"],
    ["我听了戏，很好!"],
]
SPLIT = [
    [],
    ["", "  "],
    ["She left ."],
    ["Hello , world", "It ended ."],
    ["a", "She asked Yahoo!"],
    ["in the U.S.", "She saw Mr.", "apples , etc."],
    ["我们 去 学校", "ひらがな"],
    ["well-known"],
]


def expected_language(language: str) -> str | None:
    try:
        known_language(language)
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.parametrize("texts", RAW + SPLIT, ids=str)
def test_raw_text_that_is_split_at_blanks_is_reported_once(
    texts: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """At the end of a text, of which most lines end in punctuation without a blank."""
    split = SplitAtBlanks("use the tokenizer basic")
    for text in texts:
        assert split(text) == text.split()
    assert caplog.messages == []
    for _ in range(2):
        split.end_of_text()
    assert len(caplog.messages) == (texts in RAW)
    if caplog.messages:
        assert caplog.messages[0].startswith("the text seems not to be tokenised: ")
        assert caplog.messages[0].endswith("; use the tokenizer basic")


def test_the_first_thousand_texts_are_looked_at(
    caplog: pytest.LogCaptureFixture,
) -> None:
    split = SplitAtBlanks()
    for text in ["a", ""] * 499 + ["It left."] * 500:
        split(text)
    assert caplog.messages == []
    split("It left.")
    assert caplog.messages == [
        "the text seems not to be tokenised: 501 of 1000 lines end in punctuation without"
        " a blank, such as 'left.'; the tokenizer basic splits raw text"
    ]
    late = SplitAtBlanks()
    for text in ["a"] * 1000 + ["It left."] * 2000:
        late(text)
    late.end_of_text()
    assert len(caplog.messages) == 1


@pytest.mark.parametrize(
    ("character", "expected"),
    [
        *[(one, True) for one in "我ひカก\u0e81កကཀ"],
        *[(one, False) for one in "aéя그ع1. \n。"],
    ],
)
def test_scripts_without_blanks(character: str, expected: bool) -> None:
    assert is_without_blanks(character) == expected


def no_package(language: str) -> None:
    raise ImportError(
        "The Xyz tokenizer requires the xyz package\ninstall it"
        if language == "ja"
        else f"[E048] Can't import language {language}"
    )


def test_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    for language in ("en", "la", "xx"):
        assert expected_language(language) is None
        assert blank_pipeline(language).lang == language
    hint = "a language that spaCy has rules for, such as en, la or xx"
    assert expected_language("zz") == hint
    with pytest.raises(InputError, match="rules for, got 'zz' .xx has rules for any"):
        blank_pipeline("zz")
    monkeypatch.setattr(spacy, "blank", no_package)
    assert expected_language("en") is None
    assert expected_language("zz") == hint
    missing = "The Xyz tokenizer requires the xyz package"
    expected = f"a language whose packages are installed ({missing})"
    assert expected_language("ja") == expected
    with pytest.raises(InputError) as caught:
        blank_pipeline("ja")
    assert str(caught.value) == f"spaCy's rules for 'ja' need a package: {missing}"


def test_what_needs_spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    assert expected_language("en") is None  # of each config, without importing it
    assert expected_language("la") is None
    with pytest.raises(InputError, match="spacy, or use the tokenizer basic"):
        blank_pipeline("la")


def by_letters(text: str) -> list[str]:
    return list(text)


@pytest.mark.parametrize(
    ("chosen", "words", "name"),
    [
        ("whitespace", ["don't.", "So"], "white space"),
        (SplitAtBlanks(), ["don't.", "So"], "white space"),
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
    language = spacy.blank("en", meta={"name": "mine"})
    split, recorded = open_tokenizer(language)
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


SPACY_EN = f"spaCy {spacy.__version__}, blank en"


@pytest.mark.parametrize(
    ("input_format", "line", "words", "name"),
    [
        ("tokens", "don't.  So", ["don't.", "So"], "white space"),
        ("text", "don't.", ["do", "n't", "."], SPACY_EN),
        ("text:basic", "don't.", ["do", "n't", "."], "basic 1"),
        ("json", '["don\'t.", "So so"]', ["don't.", "So so"], "JSON"),
        ("json", '{"tokens": ["a", "b"], "x": 1}', ["a", "b"], "JSON"),
        ("json", '{"tokens": "a  b."}', ["a", "b."], "JSON"),
        ("json", '{"tokens": []}', [], "JSON"),
        ("json", " ", [], "JSON"),
        ("json:basic", '{"tokens": "b."}', ["b", "."], "JSON, basic 1"),
        ("json:basic", '["b."]', ["b."], "JSON, basic 1"),
    ],
)
def test_lines(input_format: str, line: str, words: list[str], name: str) -> None:
    kind, _, tokenizer = input_format.partition(":")
    parse, recorded = line_parser(kind, tokenizer or None)
    assert (parse(line), recorded) == (words, name)


@pytest.mark.parametrize(
    "line",
    [
        "a b",
        "5",
        "null",
        '"a b"',
        '["a", ""]',
        '["a", 5]',
        '{"tokens": 5}',
        '{"words": ["a"]}',
        '{"tokens": ["a", null]}',
        "[" * 5000,
    ],
)
def test_invalid_lines_of_json(line: str) -> None:
    parse, _ = line_parser("json")
    with pytest.raises(
        InputError, match="a JSON list of tokens, .* with 'tokens', got"
    ):
        parse(line)
    other, _ = line_parser("json", column="body")
    assert other('{"body": ["a"]}') == ["a"]
    with pytest.raises(InputError, match="an object with 'body'"):
        other('{"tokens": ["a"]}')


@pytest.mark.parametrize("input_format", ["tokens", "json"])
def test_a_single_raw_text_is_reported_at_the_end(
    input_format: str, caplog: pytest.LogCaptureFixture
) -> None:
    parse, _ = line_parser(input_format)
    line = "She left."
    parse({"tokens": line, "json": '{"tokens": "She left."}'}[input_format])
    assert caplog.messages == []
    end_of_text(parse)
    assert len(caplog.messages) == 1
    assert caplog.messages[0].endswith("; the tokenizer basic splits raw text")
    end_of_text(by_letters)  # of a function there is nothing to report


def test_long_runs_are_split_into_pieces() -> None:
    """The rules see no more than fifty characters of a run of more than a thousand."""
    tokenize = blank_pipeline("xx").tokenizer
    for length, expected in ((1000, 1), (1001, 21), (1050, 21)):
        assert len(tokenize("x" * length)) == expected
        words = tokenize(f"a {'x' * length} b")
        assert [word.text for word in words][:: len(words) - 1] == ["a", "b"]
        assert words.text == f"a {'x' * length} b"
