"""
The paragraphs and sentences of raw text: the decision about wrapped lines, and long
paragraphs.
"""

import gzip
import random
import re
import textwrap
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.pretraining.paragraphs import (
    Line,
    Sentence,
    find_paragraphs,
    lines_of_texts,
    sentence_splitter,
    sentences_of_paragraphs,
)
from tests.tiny import FIXTURES, REAL_DATA

TEXT = (FIXTURES / "miniworld/lm/heldout.miniworld.txt").read_text()
SENTENCES = re.sub(r" ([.,;:!?])", r"\1", TEXT).splitlines()[:400]
PARAGRAPHS = [" ".join(SENTENCES[n : n + 5]) for n in range(0, len(SENTENCES), 5)]
LETTERS = {ord("a") + n: 0x905 + n for n in range(26)}


def wrapped(width: int, *, last: str | None = None) -> list[str]:
    """
    The paragraphs in lines of at most so many characters, each with a `last` line.
    """
    lines = []
    for paragraph in PARAGRAPHS:
        lines += textwrap.wrap(paragraph, width)
        if last is not None:
            lines.append(last)
    return lines


def without_case(lines: list[str]) -> list[str]:
    return [line.lower().translate(LETTERS) for line in lines]


def without_blanks(lines: list[str]) -> list[str]:
    """In lines of 40 characters."""
    short_lines = []
    for line in lines:
        short_lines += textwrap.wrap(line.replace(" ", ""), 40)
    return short_lines


def without_punctuation(lines: list[str]) -> list[str]:
    return [re.sub(r"[^\w\s]", "", line).lower() for line in lines]


WRAPPED = {
    "30 characters": wrapped(30),
    "40 characters": wrapped(40),
    "60 characters": wrapped(60),
    "72 characters": wrapped(72),
    "100 characters": wrapped(100),
    "blank lines": wrapped(72, last=""),
    "headings": wrapped(72, last="Chapter One"),
    "no case": without_case(wrapped(72)),
    "no case, blank lines": without_case(wrapped(72, last="")),
    "no blanks": without_blanks(without_case(PARAGRAPHS)),
    "indented": [f"    {line}" for line in wrapped(60)],
    "one short paragraph": textwrap.wrap(PARAGRAPHS[0], 50),
}
NOT_WRAPPED = {
    "sentences": SENTENCES,
    "paragraphs": PARAGRAPHS,
    "paragraphs and blank lines": "\n\n".join(PARAGRAPHS + [""]).splitlines(),
    "no punctuation": without_punctuation(SENTENCES),
    "no case": without_case(SENTENCES),
    "no case, no punctuation": without_case(without_punctuation(SENTENCES)),
    "names": ["Mira Oakes", "Tarn", "The old ferry of Brackwater", "Halloran"] * 20,
    "one line": PARAGRAPHS[:1],
    "nothing": [],
}


def lines_of(texts: list[str]) -> Iterator[Line]:
    return lines_of_texts((0, text) for text in texts)


@pytest.mark.parametrize("name", WRAPPED)
def test_wrapped_lines_are_found(name: str) -> None:
    assert find_paragraphs(lines_of(WRAPPED[name])) == "blank"


@pytest.mark.parametrize("name", NOT_WRAPPED)
def test_other_lines_are_paragraphs(name: str) -> None:
    assert find_paragraphs(lines_of(NOT_WRAPPED[name])) == "line"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("latin/lm/train", "blank"),
        ("latin/lm/heldout", "blank"),
        ("telugu/lm/train", "line"),
    ],
)
def test_real_text(name: str, expected: str) -> None:
    """Most lines of the Latin text are wrapped; the Telugu one has a verse a line."""
    file = REAL_DATA / f"languages/{name}.raw.txt.gz"
    if not file.exists():
        pytest.skip(f"needs {file}")
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        assert find_paragraphs(Line(0, line) for line in opened) == expected


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
    found = list(sentences_of_paragraphs(lines_of(lines), "blank", by_periods))
    whole = by_periods(" ".join(lines))
    assert found == [Sentence(place // 1000, words) for place, words in whole]


@given(st.lists(st.integers(0, 3), max_size=30))
def test_paragraphs_are_numbered(blank_lines: list[int]) -> None:
    lines = []
    expected = []
    for number, count in enumerate(blank_lines):
        blank = ("", " ", "\t", "\u3000")[count]
        lines += [f"a{number}", f"b{number}.", "c."] + [blank] * (count + 1)
        expected += [
            Sentence(number, [f"a{number}", f"b{number}."]),
            Sentence(number, ["c."]),
        ]
    found = list(sentences_of_paragraphs(lines_of(lines), "blank", by_periods))
    order: dict[int, int] = {}
    renumbered = []
    for sentence in found:
        number = order.setdefault(sentence.paragraph, len(order))
        renumbered.append(Sentence(number, sentence.words))
    assert renumbered == expected


def test_documents_end_paragraphs() -> None:
    lines = lines_of_texts([(0, "one\ntwo"), (1, "three\r\nfour\n\nfive")])
    found = sentences_of_paragraphs(lines, "blank", by_periods)
    assert [" ".join(sentence.words) for sentence in found] == [
        "one two",
        "three four",
        "five",
    ]


def test_lines_of_a_script_without_blanks_are_joined_without_one() -> None:
    lines = lines_of(["我听了戏", "很好看.", "she left,", "我也走了."])
    found = sentences_of_paragraphs(lines, "blank", by_periods)
    assert [" ".join(sentence.words) for sentence in found] == [
        "我听了戏很好看.",
        "she left, 我也走了.",
    ]


def test_long_text_without_a_period_is_cut() -> None:
    for text in ("word " * 100_000, "x" * 500_000):
        found = sentences_of_paragraphs(lines_of([text]), "line", by_periods)
        parts = [" ".join(sentence.words) for sentence in found]
        assert "".join(parts).replace(" ", "") == text.replace(" ", "")
        assert max(len(part) for part in parts) <= 300_000


def test_rules_of_spacy() -> None:
    split = sentence_splitter("la")
    lines = ["Gallia est omnis divisa. Incolunt", "Belgae! Et cetera"]
    found = list(sentences_of_paragraphs(lines_of(lines), "blank", split))
    assert [" ".join(sentence.words) for sentence in found] == [
        "Gallia est omnis divisa .",
        "Incolunt Belgae !",
        "Et cetera",
    ]
