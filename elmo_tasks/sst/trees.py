r"""
Sentiment trees: a bracketed tree a line, a label at each node (Socher et al. 2013, "Recursive Deep Models for Semantic
Compositionality Over a Sentiment Treebank").

`(3 (2 It) (4 (2 's) (4 lovely)))`: a node is a label from 0 to 4 and then either one word, or nodes. Words are
unescaped as in text: -LRB- and -RRB- are round brackets, `\/` and `\*` have lost their backslash. A tree may be of any
depth.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from elmo_tasks.data.files import open_text
from elmo_tasks.data.treebank import unescape
from elmo_tasks.errors import InputError, shown
from elmo_tasks.sst.labels import FIVE

CORPUS_HINT = "the Stanford Sentiment Treebank in PTB trees comes from https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip"

# `\s` would also cut at no-break spaces, which are part of some words.
_PIECE = re.compile(r"[()]|[^() \t\r]+")


@dataclass(frozen=True, slots=True)
class Phrase:
    """
    A node of a tree.

    # Parameters

    label : `str`
        From `0`, very negative, to `4`, very positive.
    start, end : `int`
        Its words are `tree.words[start:end]`.
    """

    label: str
    start: int
    end: int

    @property
    def length(self) -> int:
        """How many words it has."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class SentimentTree:
    """
    A sentence and the labels of its phrases.

    # Parameters

    words : `tuple[str, ...]`
        T words, unescaped.
    phrases : `tuple[Phrase, ...]`
        All nodes, each after those inside it: the last one is the sentence.
    line : `int`, optional
        Where it stands.
    """

    words: tuple[str, ...]
    phrases: tuple[Phrase, ...]
    line: int | None = None

    @property
    def root(self) -> Phrase:
        """The whole sentence."""
        return self.phrases[-1]


def read_trees(path: str | Path) -> Iterator[SentimentTree]:
    """
    Streams the trees of a file, plain or gzip, a tree a line; blank lines are passed over.

    # Raises

    `InputError`
        With file and line, if a line is no tree, or if the file holds none; besides, whatever `open_text` raises.
    """
    found = False
    for number, line in open_text(path, corpus_hint=CORPUS_HINT):
        if line.strip():
            found = True
            yield parse_tree(line, file=path, line=number)
    if not found:
        raise InputError("no tree found: lines such as (3 (2 It) (3 works)) were wanted", file=path)


def parse_tree(text: str, *, file: str | Path | None = None, line: int | None = None) -> SentimentTree:
    """
    The tree that a line holds.

    # Parameters

    text : `str`
    file, line : optional
        Where it stands, for the messages.

    # Raises

    `InputError`
        If brackets do not match, a label is missing or not from 0 to 4, a node has no words, or words outside a leaf,
        or text follows the tree.
    """
    parser = _Parser()
    problem = None
    for piece in _PIECE.findall(text):
        problem = parser.take(piece)
        if problem:
            break
    problem = problem or parser.problem_at_end()
    if problem:
        raise InputError(problem, file=file, line=line, hint="a tree looks like (3 (2 It) (3 works))")
    return SentimentTree(tuple(parser.words), tuple(parser.phrases), line)


@dataclass(slots=True)
class _Node:
    """A node that is still open."""

    start: int
    label: str | None = None
    has_word: bool = False


@dataclass(slots=True)
class _Parser:
    """Takes the pieces of a line one by one, with a stack of its own: depth costs no recursion."""

    words: list[str] = field(default_factory=list)
    phrases: list[Phrase] = field(default_factory=list)
    open: list[_Node] = field(default_factory=list)

    def take(self, piece: str) -> str | None:
        """What is wrong with the next piece, `None` if nothing is."""
        if self.phrases and not self.open:
            return f"text after the end of the tree: {shown(piece)}"
        if piece == "(":
            return self._enter()
        if not self.open:
            return f"a tree opens with a bracket; found {shown(piece)}"
        if piece == ")":
            return self._leave()
        return self._word(piece) if self.open[-1].label else self._label(piece)

    def problem_at_end(self) -> str | None:
        """What is wrong with a line that ends here."""
        return f"{len(self.open)} of the brackets are never closed" if self.open else None

    def _enter(self) -> str | None:
        if self.open and self.open[-1].label is None:
            return "a label from 0 to 4 was wanted, found another node"
        if self.open and self.open[-1].has_word:
            return f"a node has one word or nodes, not both; found a node after {shown(self.words[-1])}"
        self.open.append(_Node(len(self.words)))
        return None

    def _label(self, piece: str) -> str | None:
        self.open[-1].label = piece
        return None if piece in FIVE else f"a label from 0 to 4 was wanted, found {shown(piece)}"

    def _word(self, piece: str) -> str | None:
        node = self.open[-1]
        if len(self.words) > node.start:
            return f"a node has one word or nodes; found {shown(piece)} after {shown(self.words[-1])}"
        node.has_word = True
        self.words.append(unescape(piece))
        return None

    def _leave(self) -> str | None:
        node = self.open.pop()
        if node.label is None:
            return "an empty node: a label from 0 to 4, and a word or nodes, were wanted"
        if len(self.words) == node.start:
            return f"a node without words: ({node.label})"
        self.phrases.append(Phrase(node.label, node.start, len(self.words)))
        return None
