"""
The paragraphs and sentences of raw text: wrapped lines, and long paragraphs.
"""

import random
import re
import textwrap
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.pretraining.text.paragraphs import (
    Line,
    ParagraphSentence,
    lines_of_texts,
    sentence_splitter,
    sentences_of_lines,
    sentences_of_paragraphs,
)


def lines_of(texts: list[str]) -> Iterator[Line]:
    return lines_of_texts((0, text) for text in texts)


def by_periods(text: str) -> list[tuple[int, list[str]]]:
    """An independent splitter: a sentence ends after each period."""
    found = re.finditer(r"\S[^.]*\.?", text)
    return [(match.start(), match[0].split()) for match in found]


def random_paragraph(seed: int, words: int) -> list[str]:
    rng = random.Random(seed)
    endings = ["", "", "", "."]
    drawn = ["w" * rng.randint(1, 9) + rng.choice(endings) for _ in range(words)]
    return textwrap.wrap(" ".join(drawn), rng.randint(30, 90))


@settings(deadline=None)
@given(st.integers(0, 999), st.integers(1, 12_000))
def test_a_long_paragraph_is_split_as_a_whole(seed: int, words: int) -> None:
    lines = random_paragraph(seed, words)
    found = list(sentences_of_paragraphs(lines_of(lines), by_periods, wrapped=True))
    whole = by_periods(" ".join(lines))
    assert found == [ParagraphSentence(place // 1000, words) for place, words in whole]


@given(st.lists(st.integers(0, 3), max_size=30))
def test_paragraphs_are_numbered(blank_lines: list[int]) -> None:
    lines = []
    expected = []
    for number, count in enumerate(blank_lines):
        blank = ("", " ", "\t", "\u3000")[count]
        lines += [f"a{number}", f"b{number}.", "c."] + [blank] * (count + 1)
        expected += [
            ParagraphSentence(number, [f"a{number}", f"b{number}."]),
            ParagraphSentence(number, ["c."]),
        ]
    found = list(sentences_of_paragraphs(lines_of(lines), by_periods, wrapped=True))
    order: dict[int, int] = {}
    renumbered = []
    for sentence in found:
        number = order.setdefault(sentence.paragraph, len(order))
        renumbered.append(ParagraphSentence(number, sentence.words))
    assert renumbered == expected


def test_documents_end_paragraphs() -> None:
    lines = lines_of_texts([(0, "one\ntwo"), (1, "three\r\nfour\n\nfive")])
    found = sentences_of_paragraphs(lines, by_periods, wrapped=True)
    assert [" ".join(sentence.words) for sentence in found] == [
        "one two",
        "three four",
        "five",
    ]


def test_lines_of_a_script_without_blanks_are_joined_without_one() -> None:
    lines = lines_of(["我听了戏", "很好看.", "she left,", "我也走了."])
    found = sentences_of_paragraphs(lines, by_periods, wrapped=True)
    assert [" ".join(sentence.words) for sentence in found] == [
        "我听了戏很好看.",
        "she left, 我也走了.",
    ]


def test_long_text_without_a_period_is_cut() -> None:
    for text in ("word " * 100_000, "x" * 500_000):
        found = sentences_of_paragraphs(lines_of([text]), by_periods, wrapped=False)
        parts = [" ".join(sentence.words) for sentence in found]
        assert "".join(parts).replace(" ", "") == text.replace(" ", "")
        assert max(len(part) for part in parts) <= 300_000


def test_rules_of_spacy() -> None:
    split = sentence_splitter("la")
    lines = ["Gallia est omnis divisa. Incolunt", "Belgae! Et cetera"]
    found = list(sentences_of_paragraphs(lines_of(lines), split, wrapped=True))
    assert [" ".join(sentence.words) for sentence in found] == [
        "Gallia est omnis divisa .",
        "Incolunt Belgae !",
        "Et cetera",
    ]


def test_ends_of_lines() -> None:
    texts = [(3, "a\r\nb\nc\rd\x0be\x85f\u2028g\u2029h\n"), (5, "")]
    found = list(lines_of_texts(texts))
    expected = [Line(3, letter) for letter in "abcdefgh"]
    assert found == [*expected, Line(3, ""), Line(5, "")]


def test_a_sentence_a_line() -> None:
    found = sentences_of_lines(lines_of(["a b", " ", "", "c.", "d"]), str.split)
    assert list(found) == [
        ParagraphSentence(0, ["a", "b"]),
        ParagraphSentence(1, ["c."]),
        ParagraphSentence(2, ["d"]),
    ]


def test_each_line_is_a_paragraph() -> None:
    """A long one counts as another for each thousand characters."""
    long = ("x" * 498 + ". ") * 5  # sentences of 499 characters, and a blank
    found = sentences_of_paragraphs(
        lines_of([long, "b. c.", "", "d"]), by_periods, wrapped=False
    )
    numbers = [sentence.paragraph for sentence in found]
    assert numbers == [0, 0, 1, 1, 2, 3, 3, 4]


@pytest.mark.parametrize("length", [9_999, 10_000, 10_001])
def test_paragraphs_around_ten_thousand_characters(length: int) -> None:
    """
    Nothing is read ahead of what is needed, and memory does not grow with the
    paragraph.
    """
    split: list[int] = []

    def noting(text: str) -> list[tuple[int, list[str]]]:
        split.append(len(text))
        return by_periods(text)

    text = ("w" * 98 + ". ") * 200
    first = text[:length]
    rest = text[length:].strip()
    found = sentences_of_paragraphs(lines_of([first, rest]), noting, wrapped=True)
    assert len(list(found)) in (200, 201)
    read = length - (first != first.strip())
    assert split[0] == (read if read >= 10_000 else len(text) - 1)


def test_long_sentences_are_cut_at_a_line_end() -> None:
    line = "word " * 10_000
    found = list(
        sentences_of_paragraphs(lines_of([line] * 7), by_periods, wrapped=True)
    )
    assert [len(" ".join(one.words)) + 1 for one in found] == [200_000, 150_000]
    assert [one.paragraph for one in found] == [0, 199]
