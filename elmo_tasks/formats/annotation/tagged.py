"""Sentences with a tag for each word, in CoNLL-U."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AfterValidator

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.columns import NO_WORD
from elmo_tasks.formats.text.text_files import not_empty, open_text
from elmo_tasks.settings import require_none, wrong_values

CORPUS_HINT = (
    "UD English EWT: https://universaldependencies.org; the Penn Treebank: LDC99T42"
)

_COLUMNS = 10
_ID, _FORM, _FEATURES = 0, 1, 5
_TAG_COLUMNS = {"lemma": 2, "upos": 3, "xpos": 4, "deprel": 7}
_FEATURE = "feats:"
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
    without a line if there is no sentence, or no word with the feature.
    """
    require_none(wrong_values("tag", Tag, tag))
    has_tag = tag in _TAG_COLUMNS
    sentences = _read_conllu(file, tag)
    for sentence in not_empty(sentences, "no sentence found in CoNLL-U", file):
        has_tag = has_tag or set(sentence.tags) != {_NONE}
        yield sentence
    if not has_tag:
        raise InputError(f"no word has the feature of the tag {tag}", file=file)


def _read_conllu(file: str | Path, tag: str) -> Iterator[TaggedSentence]:
    sentence = TaggedSentence([], [], 0)
    for number, line in chain(open_text(file, corpus_hint=CORPUS_HINT), [(0, "")]):
        columns = [column.strip(" ") for column in line.split("\t")]
        if line.startswith("#") and len(columns) != _COLUMNS:
            continue
        words = sentence.words
        if not line.strip(" \t"):
            if words:
                yield sentence
            sentence = TaggedSentence([], [], 0)
            continue
        if len(columns) != _COLUMNS:
            problem = (
                f"expected {_COLUMNS} columns separated by tabs, got {len(columns)}"
            )
            raise InputError(problem, file=file, line=number)
        index, word = columns[_ID], columns[_FORM]
        if NO_WORD.fullmatch(index):
            continue
        if index != str(len(words) + 1):
            problem = f"expected ID {len(words) + 1}, got {index!r}"
            raise InputError(problem, file=file, line=number)
        found = _tag(columns, tag)
        is_missing = found == _NONE and tag in _TAG_COLUMNS
        if word == _NONE and tag == "lemma":  # the lemma of an underscore
            is_missing = False
        if not word or not found or is_missing:
            problem = f"expected a word and its {tag}, got {word!r} and {found!r}"
            raise InputError(problem, file=file, line=number)
        if not words:
            sentence = sentence._replace(line=number)
        words.append(word)
        sentence.tags.append(found)


def _tag(columns: list[str], tag: str) -> str:
    if tag in _TAG_COLUMNS:
        return columns[_TAG_COLUMNS[tag]]
    for feature in columns[_FEATURES].split("|"):
        name, _, value = feature.partition("=")
        if f"{_FEATURE}{name}" == tag:
            return value
    return _NONE
