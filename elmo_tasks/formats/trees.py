r"""
Reads sentiment trees: one bracketed tree per line, a label at each node (Socher et al. 2013, "Recursive Deep Models for
Semantic Compositionality Over a Sentiment Treebank").

`(3 (2 It) (4 (2 's) (4 lovely)))`: a node is a label from 0 to 4, followed by a word or by nodes. Words are unescaped:
-LRB- and -RRB- become round brackets, `\/` and `\*` lose their backslash.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.tagged import unescape
from elmo_tasks.formats.text_files import not_empty, open_text

CORPUS_HINT = "the Stanford Sentiment Treebank in PTB trees comes from https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip"

NAMES = {"0": "very negative", "1": "negative", "2": "neutral", "3": "positive", "4": "very positive"}
"""The labels of the trees, and their names in predictions."""

# `\s` would also split at no-break spaces, which are part of some words.
_PIECE = re.compile(r"[()]|[^() \t\r]+")

_NEXT = {
    "": ({"open"}, "an opening bracket"),
    "open": ({"label"}, "a label from 0 to 4"),
    "label": ({"open", "word"}, "a word or a node"),
    "word": ({"close"}, "a closing bracket"),
    "close": ({"open", "close"}, "another node or a closing bracket"),
}
"""The kinds of pieces that may follow each kind, and their description."""


class Phrase(NamedTuple):
    """A node of a tree: its words are `tree.words[start:end]`."""

    label: str  # from 0, very negative, to 4, very positive
    start: int
    end: int

    @property
    def length(self) -> int:
        """Number of words."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class SentimentTree:
    """A sentence of T words, unescaped, and all nodes of its tree in postorder: the last one is the sentence."""

    words: tuple[str, ...]
    phrases: tuple[Phrase, ...]
    line: int | None = None

    @property
    def root(self) -> Phrase:
        """The whole sentence."""
        return self.phrases[-1]


def read_trees(path: str | Path) -> Iterator[SentimentTree]:
    """
    Yields the trees of a file, plain or gzip; blank lines are skipped. Raises `InputError` with file and line, if a
    line is not a tree, or the file contains none or cannot be read.
    """
    lines = ((number, line) for number, line in open_text(path, corpus_hint=CORPUS_HINT) if line.strip())
    trees = (parse_tree(line, file=path, line=number) for number, line in lines)
    yield from not_empty(trees, "expected lines such as (3 (2 It) (3 works)), got none", path)


def parse_tree(text: str, *, file: str | Path | None = None, line: int | None = None) -> SentimentTree:
    """
    Parses a tree of any depth; file and line are for error messages. Raises `InputError` if the text is not a tree.
    """
    try:
        words, phrases = _parse(_PIECE.findall(text))
    except ValueError as error:
        raise InputError(str(error), file=file, line=line, hint="a tree looks like (3 (2 It) (3 works))") from None
    return SentimentTree(tuple(words), tuple(phrases), line)


def _parse(pieces: list[str]) -> tuple[list[str], list[Phrase]]:
    """Words and phrases. Raises `ValueError` if the pieces are not one tree."""
    words: list[str] = []
    phrases: list[Phrase] = []
    stack: list[tuple[str, int]] = []  # label and start of each open node
    previous = ""
    for piece in pieces:
        kind = {"(": "open", ")": "close"}.get(piece, "label" if previous == "open" else "word")
        if phrases and not stack and previous == "close":
            raise ValueError(f"expected one tree, got {shown(piece)} after its end")
        kinds, expected = _NEXT[previous]
        if kind not in kinds or (kind == "label" and piece not in NAMES):
            raise ValueError(f"expected {expected}, got {shown(piece)}")
        if kind == "label":
            stack.append((piece, len(words)))
        elif kind == "word":
            words.append(unescape(piece))
        elif kind == "close":
            label, start = stack.pop()
            phrases.append(Phrase(label, start, len(words)))
        previous = kind
    if stack or previous != "close":
        raise ValueError(f"expected {_NEXT[previous][1]}, got the end of the line")
    return words, phrases
