"""Sentences with a tag for each word, in CoNLL-U."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text_files import not_empty, open_text

CORPUS_HINT = (
    "UD English EWT: https://universaldependencies.org; the Penn Treebank: LDC99T42"
)

_COLUMNS = 10
_ID, _FORM, _FEATURES = 0, 1, 5
_TAG_COLUMNS = {"lemma": 2, "upos": 3, "xpos": 4, "deprel": 7}
_FEATURE = "feats:"
_NONE = "_"

TAGS = (*_TAG_COLUMNS, "feats:NAME")
"""What the tags can be; `feats:Case` is the feature `Case`."""


def expected_tag(tag: str) -> str | None:
    """What a tag should be if it is none of `TAGS`."""
    is_tag = tag in _TAG_COLUMNS or tag.startswith(_FEATURE)
    return None if is_tag else f"one of {', '.join(TAGS)}"


class TaggedSentence(NamedTuple):
    """At least one word, and a tag for each."""

    words: list[str]
    tags: list[str]


def read_tagged(file: str | Path, *, tag: str = "xpos") -> Iterator[TaggedSentence]:
    """
    The sentences of a CoNLL-U file, read lazily: of its ten columns FORM and the tag; multiword tokens and empty nodes
    are skipped. Lines that begin with `#` are comments. `tag` is one of `TAGS`; a word without the feature has the tag
    `_`.

    Raises `InputError` with the line, if it has another format or a word has no tag; if there is no sentence.
    """
    if wanted := expected_tag(tag):
        raise InputError(f"expected tag to be {wanted}, got {tag!r}")
    yield from not_empty(_read_conllu(file, tag), "no sentence found in CoNLL-U", file)


def _read_conllu(file: str | Path, tag: str) -> Iterator[TaggedSentence]:
    sentence = TaggedSentence([], [])
    for number, line in open_text(file, corpus_hint=CORPUS_HINT):
        columns = [column.strip(" ") for column in line.split("\t")]
        if line.startswith("#") and len(columns) != _COLUMNS:
            continue
        if line.strip(" \t"):
            _add_row(sentence, columns, tag, file, number)
        elif sentence.words:
            yield sentence
            sentence = TaggedSentence([], [])
    if sentence.words:
        yield sentence


def _add_row(
    sentence: TaggedSentence,
    columns: list[str],
    tag: str,
    file: str | Path,
    number: int,
) -> None:
    if len(columns) != _COLUMNS:
        problem = f"expected {_COLUMNS} columns separated by tabs, got {len(columns)}"
        raise InputError(problem, file=file, line=number)
    index, word = columns[_ID], columns[_FORM]
    if any(
        separator in index and index.replace(separator, "", 1).isdecimal()
        for separator in "-."
    ):
        return
    if index != str(len(sentence.words) + 1):
        raise InputError(
            f"expected ID {len(sentence.words) + 1}, got {index!r}",
            file=file,
            line=number,
        )
    found = _tag(columns, tag)
    if not word or not found or (found == _NONE and tag in _TAG_COLUMNS):
        raise InputError(
            f"expected a word and its {tag}, got {word!r} and {found!r}",
            file=file,
            line=number,
        )
    sentence.words.append(word)
    sentence.tags.append(found)


def _tag(columns: list[str], tag: str) -> str:
    if tag in _TAG_COLUMNS:
        return columns[_TAG_COLUMNS[tag]]
    features = dict(
        feature.partition("=")[::2] for feature in columns[_FEATURES].split("|")
    )
    return features.get(tag.removeprefix(_FEATURE), _NONE)
