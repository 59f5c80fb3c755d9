r"""
Reads sentiment trees: one bracketed tree per line, a label at each node (Socher et al.
2013, "Recursive Deep Models for Semantic Compositionality Over a Sentiment Treebank").

`(3 (2 It) (4 (2 's) (4 lovely)))`: a node is a label from 0 to 4, followed by a word or
by nodes. Words are unescaped: -LRB- and -RRB- become round brackets, `\/` and `\*` lose
their backslash.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.text.text_files import not_empty, open_text

CORPUS_HINT = "the Stanford Sentiment Treebank in PTB trees comes from https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip"

NAMES = {
    "0": "very negative",
    "1": "negative",
    "2": "neutral",
    "3": "positive",
    "4": "very positive",
}
"""The labels of the trees, and their names in predictions."""

_ESCAPES = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
}
# `\s` would also split at no-break spaces, which are part of some words.
_PIECE = re.compile(r"\([ \t]*([^() \t]*)|(\))|([^() \t]+)")
"""A bracket and its label, a closing bracket, or a word."""


class Phrase(NamedTuple):
    """A node of a tree: its words are `tree.words[start:end]`."""

    label: str  # from 0, very negative, to 4, very positive
    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class SentimentTree:
    """
    A sentence of T words, unescaped, and all nodes of its tree in postorder: the last
    one is the sentence.
    """

    words: tuple[str, ...]
    phrases: tuple[Phrase, ...]
    line: int | None = None

    @property
    def root(self) -> Phrase:
        return self.phrases[-1]


def read_trees(path: str | Path) -> Iterator[SentimentTree]:
    """
    Yields the trees of a file, plain or gzip; blank lines are skipped. Raises
    `InputError` with file and line, if a line is not a tree, or the file contains none
    or cannot be read.
    """
    problem = "expected lines such as (3 (2 It) (3 works)), got none"
    yield from not_empty(_trees(path), problem, path)


def _trees(path: str | Path) -> Iterator[SentimentTree]:
    for number, line in open_text(path, corpus_hint=CORPUS_HINT):
        if line.strip(" \t"):
            yield parse_tree(line, file=path, line=number)


def parse_tree(
    text: str, *, file: str | Path | None = None, line: int | None = None
) -> SentimentTree:
    """
    Parses a tree of any depth; file and line are for the `InputError` if the text is
    none.
    """
    invalid = partial(
        InputError, file=file, line=line, hint="a tree looks like (3 (2 It) (3 works))"
    )
    words: list[str] = []
    phrases: list[Phrase] = []
    stack: list[tuple[str, int]] = []  # label and start of each open node
    leaf = False  # whether the open node has a word
    for piece in _PIECE.finditer(text):
        label, closed, word = piece.groups()
        if label is not None and (
            label not in NAMES or leaf or (phrases and not stack)
        ):
            raise invalid(
                f"expected a label from 0 to 4 in a node of one tree, got {shown(piece[0])}"
            )
        if label is not None:
            stack.append((label, len(words)))
        elif closed and stack and len(words) > stack[-1][1]:
            begun, start = stack.pop()
            phrases.append(Phrase(begun, start, len(words)))
            leaf = False
        elif word and stack and len(words) == stack[-1][1]:
            words.append(unescape(word))
            leaf = True
        else:
            raise invalid(
                f"expected a node with a word or with nodes, got {shown(piece[0])}"
            )
    if stack or not phrases:
        raise invalid("expected a closing bracket, got the end of the line")
    return SentimentTree(tuple(words), tuple(phrases), line)


def unescape(word: str) -> str:
    """
    The text of a treebank's word: brackets, and slashes and asterisks without their
    backslash.
    """
    return _ESCAPES.get(word) or word.replace("\\/", "/").replace("\\*", "*")
