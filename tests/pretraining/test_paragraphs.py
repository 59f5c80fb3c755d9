"""
The paragraphs and sentences of raw text: the decision about wrapped lines, and long
paragraphs.
"""

import gzip
import itertools
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
    find_paragraphs,
    lines_of_texts,
    sentence_splitter,
    sentences_of_lines,
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
    found = list(sentences_of_paragraphs(lines_of(lines), "blank", by_periods))
    order: dict[int, int] = {}
    renumbered = []
    for sentence in found:
        number = order.setdefault(sentence.paragraph, len(order))
        renumbered.append(ParagraphSentence(number, sentence.words))
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


def by_definition(documents: list[list[str]]) -> str:
    """
    `blank` for wrapped lines, a line at a time with all of its document in memory.
    """
    followed = unfinished = full = 0
    for lines in documents:
        padded = ["", "", *[line.strip() for line in lines], "", ""]
        for place in range(2, len(padded) - 2):
            line, following = padded[place], padded[place + 1]
            if line == "" or following == "":
                continue
            followed += 1
            if line.rstrip("\"') ")[-1:] in (".", "!", "?"):
                continue
            unfinished += 1
            word = following.split()[0] if " " in following else following[0]
            near = padded[place - 2 : place] + padded[place + 1 : place + 3]
            longest = max(len(one) for one in near)
            full += len(line) + 1 + len(word) > longest
    if full >= 2 and full >= 0.25 * followed and full >= 0.6 * unfinished:
        return "blank"
    return "line"


KINDS = [["aaa b cc", "aa bb.", "ccc", ""], ["aaaa bbb", "a b", 'bb "c!"', " dd e "]]


@pytest.mark.parametrize("kinds", KINDS)
def test_the_decision_follows_its_definition(kinds: list[str]) -> None:
    found = set()
    for lines in itertools.product(kinds, repeat=5):
        decision = find_paragraphs(lines_of(list(lines)))
        assert decision == by_definition([list(lines)]), lines
        found.add(decision)
    assert len(found) == 2


LINES = st.lists(
    st.sampled_from(["aaa b cc", "aa bb.", "ccc", "", "aaaa bbbb d", 'b!) "', "a b c"]),
    min_size=1,
    max_size=9,
)
SPACED = st.builds(
    lambda lines, margin: [f"{margin}{line}{margin}" for line in lines],
    LINES,
    st.sampled_from(["", " " * 9]),
)
"""White space around a line counts for nothing."""


@settings(deadline=None)
@given(st.lists(SPACED, max_size=3))
def test_the_decision_about_several_documents(documents: list[list[str]]) -> None:
    texts = enumerate("\n".join(lines) for lines in documents)
    assert find_paragraphs(lines_of_texts(texts)) == by_definition(documents)


def shares(full: int, short: int, finished: int) -> str:
    """
    The decision about so many lines of each kind, of pairs that blank lines separate.
    """
    lines = ["aaaa bbbb", "c d", ""] * full + ["a", "bb cc dd", ""] * short
    lines += ["a.", "bb cc dd", ""] * finished
    return find_paragraphs(lines_of(lines))


def test_shares_of_full_lines() -> None:
    assert (shares(1, 0, 0), shares(2, 0, 0)) == ("line", "blank")
    assert (shares(6, 4, 0), shares(6, 5, 0)) == ("blank", "line")
    assert (shares(3, 2, 7), shares(3, 2, 8)) == ("blank", "line")


def test_the_first_hundred_thousand_lines_decide() -> None:
    read = 0

    def lines() -> Iterator[Line]:
        nonlocal read
        for _ in range(100_001):
            read += 1
            yield Line(0, "")

    assert find_paragraphs(lines()) == "line" and read == 100_000


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
        lines_of([long, "b. c.", "", "d"]), "line", by_periods
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
    found = sentences_of_paragraphs(lines_of([first, rest]), "blank", noting)
    assert len(list(found)) in (200, 201)
    read = length - (first != first.strip())
    assert split[0] == (read if read >= 10_000 else len(text) - 1)


def test_long_sentences_are_cut_at_a_line_end() -> None:
    line = "word " * 10_000
    found = list(sentences_of_paragraphs(lines_of([line] * 7), "blank", by_periods))
    assert [len(" ".join(one.words)) + 1 for one in found] == [200_000, 150_000]
    assert [one.paragraph for one in found] == [0, 199]
