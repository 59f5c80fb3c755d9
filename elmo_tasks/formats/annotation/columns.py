"""
CoNLL column files: a token per line, columns, an empty line after a sentence.

A line that contains tabs is split at tabs, so that fields may contain blanks; any other
line is split at blanks. The format defines no comments, and `#` is a word, too: lines
before the first token of a sentence are comments where they cannot be a token. For
lines that might be either see `read_columns`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path
from sys import intern
from typing import NamedTuple

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.text.text_files import open_text, without_mark

LONGEST_SENTENCE = 2**15  # in tokens

_DOCUMENT_START = "-DOCSTART-"
_SEEN = 10_000  # values of a column that are remembered
_AHEAD = 1000  # lines that are read to find the number of columns

_CONLLU = 10  # columns
_NO_WORD = re.compile("[0-9]+[-.][0-9]+")

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
    comments: bool | None = None,
) -> Iterator[ColumnSentence]:
    """
    Streams the sentences of a column file, plain or gzip. `-DOCSTART-` lines end a
    sentence. The first token line has at least `min_columns`, and all others have as
    many as that. `corpus_hint` is for `open_text`.

    `comments` says whether lines before the first token of a sentence that begin with
    `#` are comments. By default those are that have another number of columns and the
    first field `#`, or are like `# sent_id = 1`. The others are tokens.

    Raises `InputError` with the line if it has the wrong number of columns, an empty
    one between tabs, a sentence is too long, or there is none, or the rows of CoNLL-U
    are no words. At the end of the file, it raises one for a line whose first field is
    `#`, and that may be a token or a comment (see `_AmbiguousLines`).
    """
    rows: list[list[str]] = []
    start = first = width = 0
    lines = _token_lines(path, comments, corpus_hint)
    for number, fields in chain(lines, [(0, [])]):
        if fields:
            first = first or number
            width = width or len(fields)
            check_fields(
                fields, width, first, least=min_columns, file=path, line=number
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
            columns = tuple(zip(*rows, strict=True))
            sentence = ColumnSentence(columns, start)
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
) -> None:
    """
    Raises `InputError` unless a line has at least `least` columns, and `width` as the
    line `first` has, and none is empty.
    """
    count = len(fields)
    hint = None
    if " " in "".join(fields):
        hint = "a line with tabs is split at tabs only"
    if count < least:
        problem = f"expected at least {least} columns, got {count}"
        raise InputError(problem, file=file, line=line, hint=hint)
    if count != width:
        if hint is None and fields[0].startswith("#"):
            hint = "a comment begins with '# ' and stands before a sentence"
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
    path: str | Path, comments: bool | None, corpus_hint: str | None
) -> Iterator[Row]:
    """The lines without comments; blank ones and `-DOCSTART-` have no fields."""
    rows = _rows(path, corpus_hint)
    ahead = _up_to_token(rows)
    width = 0  # of the first line that is no comment, if it is not far
    for row in ahead:
        if row.fields:
            width = len(row.fields)
    ambiguous = _AmbiguousLines(path)
    is_start = True
    for row in chain(ahead, rows):
        if not row.fields:
            is_start = True
            yield row.number, row.fields
            continue
        if is_start and row.text.startswith("#"):
            is_comment = comments
            if is_comment is None:
                is_comment = _is_comment(row.text, row.fields, width)
            if is_comment:
                continue
        ambiguous.saw(row.number, row.text, row.fields, is_start=is_start)
        is_start = False
        yield row.number, row.fields
    if comments is None:
        ambiguous.check()


class _Row(NamedTuple):
    """
    A line, its number, and its fields: none for a blank one, and for `-DOCSTART-`.
    """

    number: int
    text: str
    fields: list[str]


def _rows(path: str | Path, corpus_hint: str | None) -> Iterator[_Row]:
    """The lines of a file from the first one with fields on."""
    has_begun = False
    for number, line in open_text(path, corpus_hint=corpus_hint, keep_marks=True):
        text = without_mark(line)
        fields = split_columns(text)
        if fields and fields[0] == _DOCUMENT_START:
            fields = []
        has_begun = has_begun or bool(fields)
        if has_begun:
            yield _Row(number, text, fields)


def _up_to_token(rows: Iterator[_Row]) -> list[_Row]:
    """The first rows, up to one that does not begin with `#`, but not too many."""
    found = []
    for row in islice(rows, _AHEAD):
        found.append(row)
        if row.fields and not row.text.startswith("#"):
            break
    return found


def _is_comment(line: str, fields: list[str], width: int) -> bool:
    """Whether a line that begins with `#`, and a sentence, cannot be a token."""
    if fields[0].strip("#"):  # `#text = She sails`, but not the token `#tag`
        return len(fields) != width and fields[1:2] == ["="]
    key, equals, _ = line.strip("# \t").partition("=")
    is_assignment = bool(equals) and len(key.split()) == 1 and not _is_tag(key.strip())
    return is_assignment or len(fields) != width


class _AmbiguousLines:
    """
    Lines with the first field `#`, and as many columns as a token.

    `# SYM` is a token, and `# 1` a comment, but in some corpora tags are numbers or in
    lower case. So a line is a token if each of its values looks like a tag, or is in
    the same column of another line. One that begins a sentence must have a value of the
    second kind, too, and must not be like the first lines of all other sentences, as
    with `# 1`, `# 2`.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = path
        self._lines: list[tuple[int, str, list[str], bool]] = []
        self._seen: list[set[str]] = []  # for each column but the first
        self._sentences = self._begun = 0  # all, and those that such a line begins

    def saw(self, number: int, line: str, fields: list[str], *, is_start: bool) -> None:
        """Remembers a line that may be either, and the values of any other."""
        first = fields[0]
        may_be_either = not first.strip("#") or (first.startswith("#") and "=" in first)
        self._sentences += is_start
        self._begun += is_start and may_be_either
        if may_be_either and len(self._lines) < _SEEN:
            self._lines.append((number, line, fields, is_start))
        if may_be_either and is_start:
            return
        while len(self._seen) < len(fields) - 1:
            self._seen.append(set())
        for values, field in zip(self._seen, fields[1:], strict=False):
            is_value = not may_be_either or _is_tag(field)
            if is_value and len(values) < _SEEN:  # not all of columns such as lemmas
                values.add(field)

    def check(self) -> None:
        """Raises `InputError` for the first line that may be either."""
        all_begin_so = 1 < self._begun == self._sentences
        for number, line, fields, is_start in self._lines:
            is_token = self._is_possible(fields)
            if is_start and (all_begin_so or not self._has_known(fields)):
                is_token = False
            if not is_token:
                problem = f"expected a token or a comment, got {shown(line)}, which may be either"
                hint = "set dataset_reader.comments to true or false"
                if not is_start:
                    hint = "comments stand before a sentence"
                raise InputError(problem, file=self._path, line=number, hint=hint)

    def _is_possible(self, fields: list[str]) -> bool:
        """Whether each value is in capitals, without letters, or in another line."""
        for values, field in zip_longest(self._seen, fields[1:]):
            if field is None or _is_tag(field):
                continue
            if not self._is_known(values, field):
                return False
        return True

    def _has_known(self, fields: list[str]) -> bool:
        """Whether a value is in another line."""
        for values, field in zip(self._seen, fields[1:], strict=False):
            if self._is_known(values, field):
                return True
        return False

    @staticmethod
    def _is_known(values: set[str] | None, field: str) -> bool:
        """Whether the column of a field has it in another line."""
        return values is not None and (field in values or len(values) >= _SEEN)


def _has_letters(value: str) -> bool:
    """Whether there are letters or digits in it."""
    for character in value:
        if character.isalnum():
            return True
    return False


def _is_tag(value: str) -> bool:
    """Whether a value looks like a tag, such as `SYM`, `B-MISC`, `-X-`, `#` or `_`."""
    has_capitals = value == value.upper() != value.lower()
    return has_capitals or not _has_letters(value)


def _require_words(sentence: ColumnSentence, path: str | Path) -> None:
    """
    Raises `InputError` for rows of CoNLL-U that are no words: `3-4`, the text of words
    3 and 4, and `8.1`, an empty node.
    """
    if len(sentence.columns) != _CONLLU:
        return
    ids = sentence.columns[0]
    numbers = [field for field in ids if field.isdecimal()]
    others = [field for field in ids if _NO_WORD.fullmatch(field)]
    counted = [str(number + 1) for number in range(len(numbers))]
    is_conllu = numbers == counted and len(numbers) + len(others) == len(ids)
    if is_conllu and others:
        raise InputError(
            f"expected a word, got {others[0]!r} in the columns of CoNLL-U",
            file=path,
            line=sentence.line + ids.index(others[0]),
            hint="set dataset_reader.tag to upos, xpos, lemma, deprel or feats:NAME",
        )
