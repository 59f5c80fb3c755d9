"""The lines of a raw text -> its paragraphs and their sentences."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import NamedTuple

from elmo_tasks.formats.text.raw_text import is_without_blanks, sentence_pipeline
from elmo_tasks.option_values import BLANK, LINE

PARAGRAPH = 1000
"""
Characters after which a longer paragraph counts as another one, from the next sentence
on.
"""

_SAMPLED_LINES = 100_000
"""Lines from which `find_paragraphs` decides."""

_FEWEST = 2
"""Lines that continue in the next one, at least, of a wrapped text."""

_CONTINUED = 0.25
"""Share of these among the lines that another one follows, at least."""

_FULL = 0.6
"""Share of these among the lines that do not end a sentence, at least."""

_PIECE = 10_000
"""Characters of a paragraph that are split into sentences at a time."""

_LONGEST_SENTENCE = 100_000
"""In characters; a longer one is cut."""

_LINE_END = re.compile(r"\r\n|[\n\r\v\x85\u2028\u2029]")
_SENTENCE_ENDS = tuple(".!?…。．！？｡।॥|؟۔։።")
_CLOSING = " \"'”’»)]}›"
_PART = re.compile(
    rf"\S.{{0,{_LONGEST_SENTENCE}}}(?!\S)|\S{{1,{_LONGEST_SENTENCE}}}", re.DOTALL
)


class Line(NamedTuple):
    """A line of a document without its end; `document` counts from 0."""

    document: int
    text: str


class ParagraphSentence(NamedTuple):
    """The words of a sentence and its paragraph, counted from 0."""

    paragraph: int
    words: list[str]


Splitter = Callable[[str], list[tuple[int, list[str]]]]
"""A text -> the offsets at which its sentences begin, and their words."""


def lines_of_texts(texts: Iterable[tuple[int, str]]) -> Iterator[Line]:
    """The lines of texts, each with the number of its document."""
    for document, text in texts:
        for line in _LINE_END.split(text):
            yield Line(document, line)


def find_paragraphs(lines: Iterable[Line]) -> str:
    """
    `blank` if the lines are wrapped, else `line`; decided from the first 100,000.

    In a wrapped text, most lines end within a sentence, and these are full: with the
    next word they would be longer than the lines around them. Lines that are sentences,
    paragraphs, headings or verses are seldom both.
    """
    followed = 0  # lines that another one follows
    unfinished = 0  # those of them that do not end a sentence
    continued = 0  # those of these that are full
    for before, line, after in _neighbours(islice(lines, _SAMPLED_LINES)):
        if not line or not after[0]:
            continue
        followed += 1
        if not line.rstrip(_CLOSING).endswith(_SENTENCE_ENDS):
            unfinished += 1
            if _is_full(line, after[0], before + after):
                continued += 1
    is_wrapped = (
        continued >= _FEWEST
        and continued >= _CONTINUED * followed
        and continued >= _FULL * unfinished
    )
    if is_wrapped:
        return BLANK
    return LINE


def _neighbours(
    lines: Iterable[Line],
) -> Iterator[tuple[list[str], str, list[str]]]:
    """
    Each line with the two before and the two after it; beyond a document there are
    blank ones.
    """
    near: deque[str] = deque(["", "", "", ""], maxlen=5)
    document = 0
    for line in lines:
        if line.document != document:
            document = line.document
            texts = ["", "", line.text.strip()]
        else:
            texts = [line.text.strip()]
        for text in texts:
            near.append(text)
            yield [near[0], near[1]], near[2], [near[3], near[4]]
    for text in ("", ""):
        near.append(text)
        yield [near[0], near[1]], near[2], [near[3], near[4]]


def _is_full(line: str, following: str, near: Sequence[str]) -> bool:
    """
    Whether a line is as long as those near it, in that the next word does not fit in
    it.
    """
    words = following.split(maxsplit=1)
    word = words[0]
    if len(words) == 1:  # perhaps of a text without blanks, which breaks anywhere
        word = following[0]
    longest = max([len(other) for other in near])
    return len(line) + 1 + len(word) > longest


def sentences_of_lines(
    lines: Iterable[Line], split: Callable[[str], list[str]]
) -> Iterator[ParagraphSentence]:
    """The sentences of a text that has one a line; each is a paragraph."""
    number = 0
    for line in lines:
        if line.text.strip():
            yield ParagraphSentence(number, split(line.text))
            number += 1


def sentences_of_paragraphs(
    lines: Iterable[Line], paragraphs: str, split: Splitter
) -> Iterator[ParagraphSentence]:
    """
    The sentences of a raw text. Memory does not grow with the length of a paragraph; a
    sentence of more than 100,000 characters is cut at a line end.
    """
    first = 0
    for _, group in groupby(_numbered(lines, paragraphs), key=itemgetter(0)):
        number = first
        parts = (text for _, text in group)
        for offset, words in _split_paragraph(parts, split):
            number = first + offset // PARAGRAPH
            yield ParagraphSentence(number, words)
        first = number + 1


def _numbered(lines: Iterable[Line], paragraphs: str) -> Iterator[tuple[int, str]]:
    """
    The lines that are not blank, or parts of long ones, with the number of their
    paragraph.
    """
    number = 0
    document = 0
    for line in lines:
        text = line.text.strip()
        if paragraphs == LINE or not text or line.document != document:
            number += 1
        document = line.document
        for part in _PART.findall(text):
            yield number, part


def _split_paragraph(
    parts: Iterable[str], split: Splitter
) -> Iterator[tuple[int, list[str]]]:
    """
    The sentences of a paragraph in parts that white space separates, with their offsets
    in it. The last sentence of what was read so far is split again with the next parts.
    """
    text = ""  # what is not split for good
    start = 0  # its offset in the paragraph
    limit = _PIECE
    for part in parts:
        text = _joined(text, part)
        if len(text) < limit:
            continue
        complete = split(text)
        last_offset, _ = complete[-1]
        if len(text) - last_offset > _LONGEST_SENTENCE:
            last_offset = len(text)
        else:
            complete.pop()
        for offset, words in complete:
            yield start + offset, words
        text = text[last_offset:]
        start += last_offset
        limit = max(_PIECE, 2 * len(text))
    if text:
        for offset, words in split(text):
            yield start + offset, words


def _joined(text: str, line: str) -> str:
    """
    A text and its next line, with a blank between them unless their script has none.
    """
    if not text or (is_without_blanks(text[-1]) and is_without_blanks(line[0])):
        return text + line
    return f"{text} {line}"


def sentence_splitter(language: str) -> Splitter:
    """spaCy's rules for the sentences and words of a language."""
    nlp = sentence_pipeline(language)

    def split(text: str) -> list[tuple[int, list[str]]]:
        found = []
        for sentence in nlp(text).sents:
            words = []
            for token in sentence:
                words += token.text.split()
            found.append((sentence.start_char, words))
        return found

    return split
