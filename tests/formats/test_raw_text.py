"""
Raw text: its tokenizers, their warnings and errors, and texts that are lists of words.
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
    expected_language,
    is_list_of_words,
    is_without_blanks,
    line_parser,
    open_tokenizer,
)


@pytest.mark.parametrize(
    "texts",
    [
        "She left .",
        "the cook left",
        "Mira left",
        "He left. She stayed. then they went",  # two sentences among seven words
        "No , he said",
        "— he",
        "one two three",
        "One two",
        "He. she went",  # one sentence
        "He. she. went away home",
    ],
)
def test_words_of_a_sentence(texts: str) -> None:
    assert is_list_of_words(texts.split())


@pytest.mark.parametrize(
    "texts",
    [
        ["Yes"],
        ["Yes", "No", "Why"],
        ["Yes.", "No.", "ok"],
        ["Yes.", "no.", "so?", "then"],
        ["two words", "one"],
        ["one", "two"],
        [],
        ["."],
        [" she", "left", "."],
        ["she ", "left", "."],
        ["she", "", "."],
        ["She", "Left", "It"],
        ["one", "Two"],
        ["Yes.", "No."],
        ["Yes!", "no?", "ok"],
        ["He.", "she", "Went", "It."],
    ],
)
def test_texts_of_one_word(texts: list[str]) -> None:
    assert not is_list_of_words(texts)


ADVICE = "use --tokenizer basic"


def warnings_about(texts: list[str], caplog: pytest.LogCaptureFixture) -> list[str]:
    """What is logged while these texts are split, and at their end."""
    split = SplitAtBlanks(ADVICE)
    for text in texts:
        assert split(text) == text.split()
    split.end_of_text()
    found = caplog.messages.copy()
    split.end_of_text()
    assert caplog.messages == found  # once
    return found


RAW = {
    "a sentence": ["She left."],
    "a comma": ["Hello, world"],
    "each closing bracket": ["(left!) \"left?\" 'left:' [left;]", "{left,}"],
    "two letters": ["an ox!"],
    "two digits": ["in 90, he left"],
    "three digits": ["it is 100."],
    "a letter with a mark": ["कि।"],
    "an unknown abbreviation": ["about abbrev."],
    "as many separate marks, then one more": ["a ,", "Oh no!", "He left."],
}
"""Texts in which a punctuation mark is attached to a word."""

SPLIT = {
    "nothing": [],
    "blank": ["", "  "],
    "separate": ["She left ."],
    "as many separate marks": ["She left, and , then"],
    "an abbreviation": ["She saw Mr."],
    "a word with a period": ["in the U.S."],
    "one letter": ["the x!"],
    "one digit": ["the 3!"],
    "two digits": ["the 30."],
    "a period within": ["She left. Then"],
    "marks alone": [". . ! ?! ,"],
    "a script without blanks": ["我听了戏，很好!", "สวัสดี!", "ひら!", "カナ!"],
    "a hyphen": ["well- -known"],
}
"""Texts that blanks divide into words."""


@pytest.mark.parametrize("name", RAW)
def test_raw_text_is_reported(name: str, caplog: pytest.LogCaptureFixture) -> None:
    (message,) = warnings_about(RAW[name], caplog)
    assert message.startswith("the text seems not to be tokenised: ")
    assert message.endswith(f"; {ADVICE}")


@pytest.mark.parametrize("name", SPLIT)
def test_words_are_not_reported(name: str, caplog: pytest.LogCaptureFixture) -> None:
    assert warnings_about(SPLIT[name], caplog) == []


def test_the_report_of_raw_text(caplog: pytest.LogCaptureFixture) -> None:
    """
    It comes with the third mark, before the text ends; the numbers are of all texts so
    far.
    """
    split = SplitAtBlanks(ADVICE)
    for _ in range(1000 - 3):
        split("a")
    split("She left.")
    split("Oh, no")
    assert caplog.messages == []
    split.end_of_text()
    assert caplog.messages == []  # two of 1,001 words are a smaller share than 3 %
    split = SplitAtBlanks(ADVICE)
    split("She left.")
    split("Oh, no")
    assert caplog.messages == []
    split("It ended!")
    assert caplog.messages == [
        "the text seems not to be tokenised: 3 of 6 tokens end in punctuation, such as"
        f" 'ended!'; {ADVICE}"
    ]
    assert caplog.records[0].levelname == "WARNING"
    for _ in range(3):
        split("It ended!")
    assert len(caplog.messages) == 1


@pytest.mark.parametrize(("attached", "warns"), [(3, False), (4, True)])
def test_three_percent_of_the_words(
    attached: int, warns: bool, caplog: pytest.LogCaptureFixture
) -> None:
    texts = ["word"] * (100 - attached) + ["left!"] * attached
    assert len(warnings_about(texts, caplog)) == warns


@pytest.mark.parametrize(("lines", "warns"), [(999, True), (1000, False)])
def test_the_first_thousand_texts_are_looked_at(
    lines: int, warns: bool, caplog: pytest.LogCaptureFixture
) -> None:
    texts = [""] * lines + ["left! left! left!"]
    assert len(warnings_about(texts, caplog)) == warns


def test_texts_of_several_files_are_reported_at_their_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The marks of a file do not count in the next one, its share of the words does."""
    split = SplitAtBlanks(ADVICE)
    split("a , b , c ,")
    split.end_of_text()
    split("She left.")
    split.end_of_text()
    assert len(caplog.messages) == 1 and "1 of 8 tokens" in caplog.messages[0]


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
    with pytest.raises(
        InputError, match="needs the package spacy .pip install spacy.$"
    ):
        expected_language("la")
    with pytest.raises(InputError, match="spacy, or use the tokenizer basic"):
        blank_pipeline("la")


def by_letters(text: str) -> list[str]:
    return list(text)


@pytest.mark.parametrize(
    ("chosen", "words", "name"),
    [
        ("whitespace", ["don't.", "So"], "white space"),
        (SplitAtBlanks(""), ["don't.", "So"], "white space"),
        ("basic", ["do", "n't", ".", "So"], "basic 1"),
        ("spacy:en", ["do", "n't", ".", "So"], f"spaCy {spacy.__version__}, blank en"),
        (by_letters, list("don't. So"), "by_letters"),
        (str.split, ["don't.", "So"], "str.split"),
    ],
)
def test_tokenizers(chosen: Any, words: list[str], name: str) -> None:
    split, recorded = open_tokenizer(chosen, advice="")
    assert (split("don't. So"), recorded) == (words, name)


def test_a_language_of_spacy_is_a_tokenizer() -> None:
    language = spacy.blank("en", meta={"name": "mine"})
    split, recorded = open_tokenizer(language, advice="")
    assert split(" don't  So") == ["do", "n't", "So"]
    assert recorded == f"spaCy {spacy.__version__}, en_mine"


@pytest.mark.parametrize("result", ["a b", None, [1], ["a", None], {"a"}])
def test_functions_that_return_no_words(result: Any) -> None:
    split, _ = open_tokenizer(lambda text: result, advice="")
    with pytest.raises(InputError, match="a list of strings, got .* for 'some text'"):
        split("some text")
    assert open_tokenizer(lambda text: ("a", "b"), advice="")[0]("x") == ["a", "b"]


@pytest.mark.parametrize("chosen", ["basics", "spacy", "", 5, None])
def test_what_is_no_tokenizer(chosen: Any) -> None:
    with pytest.raises(InputError, match="expected whitespace, basic, spacy:LANGUAGE"):
        open_tokenizer(chosen, advice="")


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
    parse, recorded = line_parser(input_format)
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
    other, _ = line_parser("json", "body")
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
    assert caplog.messages[0].endswith("or --tokenizer basic splits raw text")
    end_of_text(by_letters)  # of a function there is nothing to report


def test_long_runs_are_split_into_pieces() -> None:
    """The rules see no more than fifty characters of a run of more than a thousand."""
    tokenize = blank_pipeline("xx").tokenizer
    for length, expected in ((1000, 1), (1001, 21), (1050, 21)):
        assert len(tokenize("x" * length)) == expected
        words = tokenize(f"a {'x' * length} b")
        assert [word.text for word in words][:: len(words) - 1] == ["a", "b"]
        assert words.text == f"a {'x' * length} b"
