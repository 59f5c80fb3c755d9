"""The lines of a raw text -> its paragraphs and their sentences."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from elmo_tasks.formats.text.raw_text import is_without_blanks, sentence_pipeline

PARAGRAPH = 1000
"""
Characters after which a longer paragraph counts as another one, from the next sentence
on.
"""

_PIECE = 10_000
"""Characters of a paragraph that are split into sentences at a time."""

_LONGEST_SENTENCE = 100_000
"""In characters; a longer one is cut."""

_LINE_END = re.compile(r"\r\n|[\n\r\v\x85\u2028\u2029]")
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
    lines: Iterable[Line], split: Splitter, *, wrapped: bool
) -> Iterator[ParagraphSentence]:
    """
    The sentences of a raw text, of which each line is a paragraph; in a `wrapped` one,
    blank lines separate paragraphs. Memory does not grow with the length of a
    paragraph; a sentence of more than 100,000 characters is cut at a line end.
    """
    first = 0
    for _, group in groupby(_numbered(lines, wrapped=wrapped), key=itemgetter(0)):
        number = first
        parts = (text for _, text in group)
        for offset, words in _split_paragraph(parts, split):
            number = first + offset // PARAGRAPH
            yield ParagraphSentence(number, words)
        first = number + 1


def _numbered(lines: Iterable[Line], *, wrapped: bool) -> Iterator[tuple[int, str]]:
    """
    The lines that are not blank, or parts of long ones, with the number of their
    paragraph.
    """
    number = 0
    document = 0
    for line in lines:
        text = line.text.strip()
        if not wrapped or not text or line.document != document:
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
