"""Sentences with a tag for each word, in CoNLL-U."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AfterValidator

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.text_files import not_empty, open_text
from elmo_tasks.settings import require_none, wrong_values

CORPUS_HINT = (
    "UD English EWT: https://universaldependencies.org; the Penn Treebank: LDC99T42"
)

_COLUMNS = 10
_ID, _FORM, _FEATURES = 0, 1, 5
_TAG_COLUMNS = {"lemma": 2, "upos": 3, "xpos": 4, "deprel": 7}
_FEATURE = "feats:"
_TOKEN_ID = re.compile("(?P<first>[1-9][0-9]{0,8})-(?P<last>[1-9][0-9]{0,8})")
_NODE_ID = re.compile("(?P<word>0|[1-9][0-9]{0,8})[.][1-9][0-9]{0,8}")
_NONE = "_"

TAGS = tuple(_TAG_COLUMNS) + ("feats:NAME",)
"""What the tags can be; `feats:Case` is the feature `Case`."""


def _is_tag(tag: str) -> str:
    if tag not in _TAG_COLUMNS and not tag.startswith(_FEATURE):
        raise ValueError(f"one of {', '.join(TAGS)}")
    return tag


Tag = Annotated[str, AfterValidator(_is_tag)]
"""One of `TAGS`."""


class TaggedSentence(NamedTuple):
    """At least one word, a tag for each, and the line of the first word."""

    words: list[str]
    tags: list[str]
    line: int


def read_tagged(file: str | Path, *, tag: str = "xpos") -> Iterator[TaggedSentence]:
    """
    The sentences of a CoNLL-U file, read lazily. Of the ten columns, only FORM and the
    tag are read. Multiword tokens, empty nodes and comments (lines that begin with `#`)
    are skipped. `tag` is one of `TAGS`; a word without the feature has the tag `_`.

    Raises `InputError` with the line if it has another format or a word has no tag, and
    without a line if there is no sentence.
    """
    require_none(wrong_values("tag", Tag, tag))
    yield from not_empty(_read_conllu(file, tag), "no sentence found in CoNLL-U", file)


def _read_conllu(file: str | Path, tag: str) -> Iterator[TaggedSentence]:
    rows = _Rows(tag, file)
    for number, line in open_text(file, corpus_hint=CORPUS_HINT):
        columns = [column.strip(" ") for column in line.split("\t")]
        if line.startswith("#") and len(columns) != _COLUMNS:
            continue
        if line.strip(" \t"):
            rows.add(columns, number)
        elif rows.sentence.words:
            yield rows.end()
    if rows.sentence.words:
        yield rows.end()


class _Rows:
    """
    The rows of a sentence. Their IDs are 1, 2, 3 ...; `3-4` stands before word 3, and
    says that words 3 and 4 are one token; `3.1` is a node without a word, after word 3.
    """

    def __init__(self, tag: str, file: str | Path) -> None:
        self._tag = tag
        self._file = file
        self.sentence = TaggedSentence([], [], 0)
        self._token: tuple[int, int, int] = (0, 0, 0)
        """
        The first and the last word of the last token of several words, and its line.
        """

    def add(self, columns: list[str], number: int) -> None:
        """
        Raises `InputError` if the row has another format, another ID than comes next,
        or no tag.
        """
        if len(columns) != _COLUMNS:
            problem = (
                f"expected {_COLUMNS} columns separated by tabs, got {len(columns)}"
            )
            raise InputError(problem, file=self._file, line=number)
        index = columns[_ID]
        word = columns[_FORM]
        words = self.sentence.words
        expected = len(words) + 1
        token = _TOKEN_ID.fullmatch(index)
        node = _NODE_ID.fullmatch(index)
        if token and int(token["first"]) == expected > self._token[1]:
            last = int(token["last"])
            if last >= expected:
                self._token = expected, last, number
                return
        if node and int(node["word"]) == len(words):
            return
        if index != str(expected):
            problem = f"expected ID {expected}, got {index!r}"
            raise InputError(problem, file=self._file, line=number)
        tag = _tag(columns, self._tag)
        is_missing = tag == _NONE and self._tag in _TAG_COLUMNS
        if word == _NONE and self._tag == "lemma":  # the lemma of an underscore
            is_missing = False
        if not word or not tag or is_missing:
            problem = f"expected a word and its {self._tag}, got {word!r} and {tag!r}"
            raise InputError(problem, file=self._file, line=number)
        if not words:
            self.sentence = self.sentence._replace(line=number)
        self.sentence.words.append(word)
        self.sentence.tags.append(tag)

    def end(self) -> TaggedSentence:
        """The sentence, after which the rows of the next one are added."""
        sentence = self.sentence
        first, last, number = self._token
        if last > len(sentence.words):
            problem = (
                f"expected words {first} to {last}, got {len(sentence.words)} words"
            )
            raise InputError(problem, file=self._file, line=number)
        self.sentence = TaggedSentence([], [], 0)
        self._token = (0, 0, 0)
        return sentence


def _tag(columns: list[str], tag: str) -> str:
    if tag in _TAG_COLUMNS:
        return columns[_TAG_COLUMNS[tag]]
    wanted = tag.removeprefix(_FEATURE)
    found = _NONE
    for feature in columns[_FEATURES].split("|"):
        name, _, value = feature.partition("=")
        if name == wanted:
            found = value
    return found
