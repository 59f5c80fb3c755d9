"""
OntoNotes in the columns of CoNLL-2012, the corpus of SRL and coreference.

| column | content |
|---|---|
| 1, 2, 3 | document, part, index of the word in its sentence |
| 4, 5 | word, part of speech |
| 6, 9, 11 | parse, word sense, named entities: not read here |
| 7, 8 | lemma and frameset of a predicate |
| 10 | speaker or author |
| 12 to the last but one | arguments, a column for each word that has a frameset, in order |
| the last | coreference |

Blanks separate columns, or tabs if the line has any. `#begin document (KEY); part 000`
begins a document, `#end document` ends it, an empty line ends a sentence. Without these
lines, a document ends where the first two columns change. Other lines that begin with
`#` are comments.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.annotation.brackets import (
    BracketError,
    mentions_from_brackets,
    spans_from_brackets,
)
from elmo_tasks.formats.annotation.columns import check_fields, split_columns
from elmo_tasks.formats.annotation.spans import Span
from elmo_tasks.formats.corpora import located
from elmo_tasks.formats.text.text_files import open_text

logger = logging.getLogger(__name__)

NONE = "-"  # for missing lemmas, framesets and speakers
PREDICATE_LABELS = ("V", "C-V")  # of the predicate itself among its arguments

CORPUS_HINT = (
    "OntoNotes 5.0 is LDC2013T19 at https://catalog.ldc.upenn.edu; "
    "https://cemantix.org/conll/2012/data.html converts it to CoNLL-2012 columns"
)
_SUFFIXES = ("gold_conll", "gold_conll.gz")
_FIRST_FRAME = 11
_MIN_COLUMNS = 12
_WARNINGS = 10
_BEGIN, _END = "#begin document", "#end document"
_MARK = re.compile(r"#+\s*(begin|end)\s*document\b", re.IGNORECASE)
BEGIN_LINE = re.compile(rf"{_BEGIN} \((.*)\)(?:; part ([0-9]{{1,9}}))?\s*")
_PART = re.compile("[0-9]{1,9}")


class Frame(NamedTuple):
    """
    A predicate and its arguments, sorted by start, with labels such as `ARG0`, `C-ARG1`
    and `R-ARGM-LOC`. The predicate itself is `V`; it may have several words and be
    continued as `C-V`.
    """

    predicate: int  # the index of the word that has the frameset
    lemma: str  # such as `kill`
    frameset: str  # such as `01`
    arguments: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class OntonotesSentence:
    """One sentence of T words. Frames are parsed on access."""

    file: str
    line: int  # of the first word; word t is on line `line + t`
    columns: tuple[tuple[str, ...], ...]  # 12 or more, of T strings each

    @property
    def words(self) -> tuple[str, ...]:
        return self.columns[3]

    @property
    def pos(self) -> tuple[str, ...]:
        return self.columns[4]

    @property
    def speakers(self) -> tuple[str, ...]:
        return self.columns[9]

    def frames(self) -> tuple[Frame, ...]:
        """
        The frame of each word that has a frameset, in order. Raises `InputError` with
        file and line, if brackets are invalid, or the columns do not match the
        predicates.
        """
        framesets = self.columns[7]
        predicates = [
            token for token, frameset in enumerate(framesets) if frameset != NONE
        ]
        columns = range(_FIRST_FRAME, len(self.columns) - 1)
        if len(columns) != len(predicates):
            problem = f"expected a column of arguments for each of {len(predicates)} framesets, got {len(columns)}"
            raise self._error(problem, 0)
        frames = []
        for predicate, column in zip(predicates, columns, strict=True):
            frames.append(self._frame(predicate, column))
        return tuple(frames)

    def _frame(self, predicate: int, column: int) -> Frame:
        try:
            arguments = spans_from_brackets(self.columns[column])
        except BracketError as error:
            raise self._error(f"column {column + 1}: {error}", error.token) from None
        if not _covers(arguments, predicate):
            problem = f"column {column + 1} has no '(V' over its predicate {self.words[predicate]!r}"
            raise self._error(problem, predicate)
        lemma = self.columns[6][predicate]
        frameset = self.columns[7][predicate]
        return Frame(predicate, lemma, frameset, arguments)

    def _error(self, problem: str, token: int) -> InputError:
        return InputError(problem, file=self.file, line=self.line + token)


def _covers(arguments: Sequence[Span], predicate: int) -> bool:
    """Whether one of the arguments is the predicate itself, the word of this index."""
    for start, end, label in arguments:
        if start <= predicate < end and label in PREDICATE_LABELS:
            return True
    return False


@dataclass(frozen=True, slots=True)
class OntonotesDocument:
    """A document, or a part of a long one, with its own clusters."""

    key: str  # such as `bc/cctv/00/cctv_0000`
    part: int
    sentences: tuple[OntonotesSentence, ...]  # at least one

    def mentions(self) -> tuple[Span, ...]:
        """
        Coreference mentions as words of the document, sorted by start; labels are the
        numbers of clusters. Mentions may be repeated, and may cross the end of a
        sentence. Raises `InputError` with file and line, if brackets are invalid.
        """
        cells: list[str] = []
        for sentence in self.sentences:
            cells += sentence.columns[-1]
        try:
            return mentions_from_brackets(cells)
        except BracketError as error:
            problem = f"coreference of the document ({self.key}); part {self.part:03d}: {error}"
            file, line = self._file_and_line(error.token)
            raise InputError(problem, file=file, line=line) from None

    def _file_and_line(self, word: int) -> tuple[str, int]:
        """File and line of a word, counted from the first one of the document."""
        for sentence in self.sentences:
            if word < len(sentence.words):
                break
            word -= len(sentence.words)
        return sentence.file, sentence.line + word


def report_skipped(
    errors: Sequence[InputError], what: str, *, path: str, kept: int
) -> None:
    """
    Warns of sentences or documents (`what`) whose annotation is invalid. Raises the
    first error if none was kept.
    """
    if errors and not kept:
        raise errors[0]
    for error in errors[:_WARNINGS]:
        logger.warning("%s skipped: %s", what, error)
    if errors:
        logger.warning(
            "%s: %d %s with invalid annotation skipped", path, len(errors), what
        )


def find_files(path: str | Path) -> list[Path]:
    """
    The files at a path, sorted: those in a folder and its subfolders whose names end in
    `gold_conll` or `gold_conll.gz`, or the one file. Raises `InputError` if a folder
    has no such file.
    """
    target = Path(located(path))
    if not target.is_dir():
        return [target]
    found = []
    for file in target.rglob("*"):
        if file.name.endswith(_SUFFIXES) and file.is_file():
            found.append(file)
    if not found:
        problem = "no file in this folder ends in .gold_conll or .v4_gold_conll"
        raise InputError(problem, file=path, hint=CORPUS_HINT)
    return sorted(found)


def read_documents(path: str | Path) -> Iterator[OntonotesDocument]:
    """
    Streams the documents of `find_files`. Words outside `#begin` and `#end` belong to
    the document in their first two columns. Logs a warning for a document without an
    end, as the file may be truncated, and for documents that two files have.

    Raises `InputError` if a line has the wrong number of columns or is of another
    document than the `#begin` line before it, a document occurs twice in a file, or a
    file contains no sentence.
    """
    file_of: dict[tuple[str, int], Path] = {}
    repeated = 0
    for file in find_files(path):
        for header, pairs in groupby(_sentences(file), key=itemgetter(0)):
            key, part = header.key, header.part
            first = file
            if header.line:
                first = file_of.setdefault((key, part), file)
            if first != file:
                repeated += 1
                if repeated == 1:
                    message = "%s:%d: the document (%s); part %03d is also in %s"
                    logger.warning(message, file, header.line, key, part, first)
            sentences = tuple([sentence for _, sentence in pairs])
            yield OntonotesDocument(key, part, sentences)
    if repeated:
        logger.warning("%s: documents that are read twice: %d", path, repeated)


class _Header(NamedTuple):
    key: str
    part: int
    line: int = 0  # of its `#begin document`; 0 if it has none
    columns: tuple[str, ...] = ()  # the first two of its rows, if it has none


def _sentences(path: str | Path) -> Iterator[tuple[_Header, OntonotesSentence]]:
    """The sentences of a file, each with the header of its document."""
    rows: list[list[str]] = []
    begun: dict[tuple[str, ...], int] = {}
    header: _Header | None = None
    start = 0
    for number, line in chain(open_text(path, corpus_hint=CORPUS_HINT), [(0, "")]):
        mark = bool(_MARK.match(line))
        if line.startswith("#") and not mark:
            continue
        fields = split_columns(line)
        is_row = bool(fields) and not mark
        if rows and not (is_row and fields[:2] == rows[0][:2]):
            columns = tuple(zip(*rows, strict=True))
            sentence = OntonotesSentence(str(path), start, columns)
            header = _header_of(sentence, header, begun)
            yield header, sentence
            rows = []
        if is_row:
            if not rows:
                start = number
            rows.append(fields)
            check_fields(
                fields,
                len(rows[0]),
                start,
                least=_MIN_COLUMNS,
                file=path,
                line=number,
            )
            if len(rows) > 1 and fields[2] == "0" and rows[-2][2] != "0":
                problem = "expected an empty line before word 0 of a sentence, got none"
                raise InputError(problem, file=path, line=number)
            continue
        is_end = mark and line.rstrip(" \t") == _END
        if header and header.line and not is_end and (mark or not number):
            message = "%s:%d: the document that begins here has no '#end document'; is the file complete?"
            logger.warning(message, path, header.line)
        if is_end:
            header = None
        elif mark:
            header = _begin(line, number, path, begun)
    if not start:
        raise InputError(
            f"expected sentences in {_MIN_COLUMNS} or more columns, got none", file=path
        )


def _header_of(
    sentence: OntonotesSentence,
    header: _Header | None,
    begun: dict[tuple[str, ...], int],
) -> _Header:
    """
    The header of a sentence's document: `header`, that of the sentence before, or a new
    one where no line begins the document. Raises `InputError` if a line has begun
    another one.
    """
    key, part = columns = sentence.columns[0][0], sentence.columns[1][0]
    if header and columns == header.columns:
        return header
    if header and header.line:
        if (key, _part(part)) == (header.key, header.part):
            return header
        document = f"({header.key[:60]}); part {header.part:03d}"
        problem = f"expected the document of line {header.line}, {document}, in columns 1 and 2"
        raise InputError(
            f"{problem}, got {shown(key)} and {shown(part)}",
            file=sentence.file,
            line=sentence.line,
            hint="begin each document with its own line, or none",
        )
    made = _Header(key, _part(part), columns=columns)
    _require_new(made, columns, sentence.line, sentence.file, begun)
    return made


def _begin(
    line: str, number: int, path: str | Path, begun: dict[tuple[str, ...], int]
) -> _Header:
    """The header of a document that is not in `begun`, and is added there."""
    match = BEGIN_LINE.fullmatch(line)
    if match is None:
        expected = f"{_BEGIN} (KEY); part 000"
        if line.startswith(_END):
            expected = _END
        raise InputError(
            f"expected '{expected}', got {shown(line)}", file=path, line=number
        )
    header = _Header(match[1], _part(match[2] or "0"), number)
    _require_new(header, (header.key, str(header.part)), number, path, begun)
    return header


def _require_new(
    header: _Header,
    name: tuple[str, ...],
    number: int,
    path: str | Path,
    begun: dict[tuple[str, ...], int],
) -> None:
    """Raises `InputError` if the document `name` is in `begun`, else adds it there."""
    first = begun.setdefault(name, number)
    if first != number:
        problem = f"the document ({header.key[:60]}); part {header.part:03d} already begins on line {first}"
        raise InputError(problem, file=path, line=number)


def _part(text: str) -> int:
    if _PART.fullmatch(text):
        return int(text)
    return 0
