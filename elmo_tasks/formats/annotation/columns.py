"""
CoNLL column files: a token per line, columns, an empty line after a sentence.

A line that contains tabs is split at tabs, so that fields may contain blanks; any other
line is split at blanks. The format defines no comments, and `#` is a word, too: a file
that has comments is read with `comments=True`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from sys import intern

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.text_files import open_text

LONGEST_SENTENCE = 2**15  # in tokens

_DOCUMENT_START = "-DOCSTART-"

_CONLLU = 10  # columns
_COMMENTS = (
    "if lines before a sentence that begin with # are comments, set"
    " dataset_reader.comments to true"
)
NO_WORD = re.compile("[0-9]+[-.][0-9]+")
"""The ID of a row of CoNLL-U that is no word: of several words, or an empty node."""

Row = tuple[int, list[str]]
"""The number of a line and its fields; none for a line that ends a sentence."""


@dataclass(frozen=True, slots=True)
class ColumnSentence:
    """One sentence of a column file."""

    columns: tuple[tuple[str, ...], ...]  # T strings per column, in file order
    line: int  # of the first token; token t is on line `line + t`


def read_columns(
    path: str | Path,
    *,
    min_columns: int = 2,
    corpus_hint: str | None = None,
    comments: bool = False,
) -> Iterator[ColumnSentence]:
    """
    Streams the sentences of a column file, plain or gzip. `-DOCSTART-` lines end a
    sentence. The first token line has at least `min_columns`, and all others have as
    many as that. `corpus_hint` is for `open_text`.

    With `comments`, lines before the first token of a sentence that begin with `#` are
    comments. By default they are tokens.

    Raises `InputError` with the line if it has the wrong number of columns, an empty
    one between tabs, a sentence is too long, or there is none, or the rows of CoNLL-U
    are no words.
    """
    rows: list[list[str]] = []
    start = first = width = 0
    word = ""  # of the first line
    lines = _token_lines(path, comments, corpus_hint)
    for number, fields in chain(lines, [(0, [])]):
        if fields:
            if not first:
                first, width, word = number, len(fields), fields[0]
            check_fields(
                fields,
                width,
                first,
                least=min_columns,
                file=path,
                line=number,
                word=word,
            )
            if not rows:
                start = number
            rows.append(fields)
            if len(rows) > LONGEST_SENTENCE:
                problem = f"expected sentences of at most {LONGEST_SENTENCE:,} tokens, got a longer one"
                raise InputError(
                    problem, file=path, line=start, hint="an empty line ends a sentence"
                )
        elif rows:
            sentence = ColumnSentence(tuple(zip(*rows, strict=True)), start)
            _require_words(sentence, path)
            yield sentence
            rows = []
    if not start:
        raise InputError(
            f"expected token lines of {min_columns} or more columns, got none",
            file=path,
        )


def split_columns(line: str) -> list[str]:
    """
    The fields of a line between its tabs or, if it has none, between its blanks; empty
    strings between adjacent tabs, none for a blank line. Equal strings are shared.
    """
    # `str.split()` would also split at no-break spaces, which are part of some tokens.
    text = line.rstrip(" \t")
    if not text:
        return []
    if "\t" in line:
        fields = [field.strip(" ") for field in text.split("\t")]
    else:
        fields = [field for field in text.split(" ") if field]
    return [intern(field) for field in fields]


def check_fields(
    fields: list[str],
    width: int,
    first: int,
    *,
    least: int,
    file: str | Path,
    line: int,
    word: str = "",
) -> None:
    """
    Raises `InputError` unless a line has at least `least` columns, and `width` as the
    line `first` has, which begins with `word`, and none is empty.
    """
    count = len(fields)
    hint = None
    if " " in "".join(fields):
        hint = "a line with tabs is split at tabs only"
    elif fields[0].startswith("#") or word.startswith("#"):
        hint = _COMMENTS
    if count < least:
        problem = f"expected at least {least} columns, got {count}"
        raise InputError(problem, file=file, line=line, hint=hint)
    if count != width:
        raise InputError(
            f"expected {width} columns as on line {first}, got {count}",
            file=file,
            line=line,
            hint=hint,
        )
    if "" in fields:
        raise InputError(
            f"expected a value in column {fields.index('')}, counted from 0, got none",
            file=file,
            line=line,
            hint="tabs separate columns, also adjacent ones",
        )


def _token_lines(
    path: str | Path, comments: bool, corpus_hint: str | None
) -> Iterator[Row]:
    """The lines without comments; blank ones and `-DOCSTART-` have no fields."""
    is_start = True
    for number, line in open_text(path, corpus_hint=corpus_hint):
        fields = split_columns(line)
        if comments and is_start and line.startswith("#"):
            continue
        if fields and fields[0] == _DOCUMENT_START:
            fields = []
        is_start = not fields
        yield number, fields


def _require_words(sentence: ColumnSentence, path: str | Path) -> None:
    """
    Raises `InputError` for rows of CoNLL-U that are no words: `3-4`, the text of words
    3 and 4, and `8.1`, an empty node.
    """
    ids = sentence.columns[0]
    counted = [field for field in ids if field.isdecimal()]
    numbers = [str(number) for number in range(1, len(counted) + 1)]
    if len(sentence.columns) != _CONLLU or counted != numbers:
        return
    for offset, field in enumerate(ids):
        if NO_WORD.fullmatch(field):
            raise InputError(
                f"expected a word, got {field!r} in the columns of CoNLL-U",
                file=path,
                line=sentence.line + offset,
                hint="set dataset_reader.tag to upos, xpos, lemma, deprel or feats:NAME",
            )
