"""Sentences with a tag for each word, in CoNLL-U."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AfterValidator

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.columns import NO_WORD, read_rows
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
    tag are read. Multiword tokens, empty nodes and comments (lines before a sentence that
    begin with `#`) are skipped. `tag` is one of `TAGS`; a word without the feature has the tag `_`.

    Raises `InputError` with the line if it has another format or a word has no tag, and
    without a line if there is no sentence.
    """
    require_none(wrong_values("tag", Tag, tag))
    for rows in read_rows(
        file, min_columns=_COLUMNS, corpus_hint=CORPUS_HINT, comments=True
    ):
        if len(rows.columns) != _COLUMNS:
            problem = f"expected {_COLUMNS} columns, got {len(rows.columns)}"
            raise InputError(problem, file=file, line=rows.line)
        sentence = TaggedSentence([], [], 0)
        for line, columns in enumerate(zip(*rows.columns, strict=True), rows.line):
            words = sentence.words
            index, word = columns[_ID], columns[_FORM]
            if NO_WORD.fullmatch(index):
                continue
            if index != str(len(words) + 1):
                problem = f"expected ID {len(words) + 1}, got {index!r}"
                raise InputError(problem, file=file, line=line)
            found = _tag(columns, tag)
            # The lemma of an underscore is one.
            is_none = found == _NONE and (word, tag) != (_NONE, "lemma")
            if not found or (is_none and tag in _TAG_COLUMNS):
                problem = f"expected a word and its {tag}, got {word!r} and {found!r}"
                raise InputError(problem, file=file, line=line)
            if not words:
                sentence = sentence._replace(line=line)
            words.append(word)
            sentence.tags.append(found)
        if sentence.words:
            yield sentence


def _tag(columns: tuple[str, ...], tag: str) -> str:
    if tag in _TAG_COLUMNS:
        return columns[_TAG_COLUMNS[tag]]
    wanted = tag.removeprefix(_FEATURE)
    found = _NONE
    for feature in columns[_FEATURES].split("|"):
        name, _, value = feature.partition("=")
        if name == wanted:
            found = value
    return found
