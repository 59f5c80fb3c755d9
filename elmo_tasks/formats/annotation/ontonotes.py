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

Blanks separate columns, or tabs if the line has any. An empty line ends a sentence. A
document ends where its first two columns change, or at a line `#begin document`. Other
lines that begin with `#` are comments.
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
from elmo_tasks.formats.corpora import files_below, located
from elmo_tasks.formats.text.text_files import open_text

logger = logging.getLogger(__name__)

NONE = "-"  # for missing lemmas, framesets and speakers

PREDICATE_LABELS = frozenset({"V", "C-V"})
"""Of the predicate itself among its arguments."""

SKELETON_HINT = (
    "the words are in column 4; a skeleton has [WORD] there, until skeleton2conll.sh of"
    " CoNLL-2012 puts in those of OntoNotes"
)
CORPUS_HINT = (
    "OntoNotes 5.0 is LDC2013T19 at https://catalog.ldc.upenn.edu; "
    "https://cemantix.org/conll/2012/data.html converts it to CoNLL-2012 columns"
)
_SUFFIXES = ("gold_conll", "gold_conll.gz", "gold_conll.zst")
_FIRST_FRAME = 11
_MIN_COLUMNS = 12
_WARNINGS = 10
_MARK = re.compile(r"#\s*(begin|end) +document", re.IGNORECASE)
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
        labels = [label for start, end, label in arguments if start <= predicate < end]
        if not PREDICATE_LABELS.intersection(labels):
            problem = f"column {column + 1} has no '(V' over its predicate {self.words[predicate]!r}"
            raise self._error(problem, predicate)
        lemma = self.columns[6][predicate]
        return Frame(predicate, lemma, self.columns[7][predicate], arguments)

    def _error(self, problem: str, token: int) -> InputError:
        return InputError(problem, file=self.file, line=self.line + token)


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
    The files at a path, sorted: those of `files_below` whose names end in `gold_conll`,
    `gold_conll.gz` or `gold_conll.zst`, or the one file. Raises `InputError` if a folder
    has no such file.
    """
    target = Path(located(path))
    if not target.is_dir():
        return [target]
    found = []
    for file in files_below(target):
        if file.name.endswith(_SUFFIXES):
            found.append(file)
    if not found:
        problem = "no file in this folder ends in .gold_conll or .v4_gold_conll"
        raise InputError(problem, file=path, hint=CORPUS_HINT)
    return sorted(found)


_NO_END = (
    "%s:%d: the document that begins here has no '#end document'; is the file complete?"
)
_NO_BEGIN = (
    "%s: no '#begin document' before the first word: columns 1 and 2 alone tell"
    " documents apart"
)


def read_documents(path: str | Path) -> Iterator[OntonotesDocument]:
    """
    Streams the documents of `find_files`. Logs a warning for a file whose last document
    begins with its line and has no line at its end, as the file may be truncated.

    Raises `InputError` if a line has the wrong number of columns, a document begins
    twice in a file, or a file contains no sentence.
    """
    file_of: dict[tuple[str, str], Path] = {}
    for file in find_files(path):
        line_of: dict[tuple[str, str], int] = {}
        for (begun, key, part), group in groupby(_sentences(file), key=itemgetter(0)):
            sentences = tuple([sentence for _, sentence in group])
            line = sentences[0].line
            if not begun and not line_of:
                logger.warning(_NO_BEGIN, file)
            other = file_of.setdefault((key, part), file)
            if other != file:
                message = (
                    "%s:%d: the document (%s); part %s is also in %s, and is read twice"
                )
                logger.warning(message, file, line, key, part, other)
            first = line_of.setdefault((key, part), line)
            if first != line:
                problem = f"the document ({key[:60]}); part {part[:60]} already begins on line {first}"
                hint = "columns 1 and 2 name the document"
                raise InputError(problem, file=file, line=line, hint=hint)
            number = int(part) if _PART.fullmatch(part) else 0
            yield OntonotesDocument(key, number, sentences)


def _sentences(path: Path) -> Iterator[tuple[tuple[int, str, str], OntonotesSentence]]:
    """
    The sentences of a file, each with its document: how many lines have begun one so
    far, and the first two columns.
    """
    rows: list[list[str]] = []
    begun = start = 0
    opened = 0  # the line that begins a document which has no end so far
    for number, line in chain(open_text(path, corpus_hint=CORPUS_HINT), [(0, "")]):
        fields = split_columns(line)
        marks: list[str] = []
        if line.startswith("#"):
            marks = _MARK.findall(line.lower())
            fields = []
            if not marks:
                continue
        if rows and fields[:2] != rows[0][:2]:
            columns = tuple(zip(*rows, strict=True))
            document = begun, columns[0][0], columns[1][0]
            yield document, OntonotesSentence(str(path), start, columns)
            rows = []
        if marks:
            if opened and marks[-1] == "begin":
                logger.warning(_NO_END, path, opened)
            opened = 0
            if marks[-1] == "begin":
                begun += 1
                opened = number
        if not fields:
            continue
        if not rows:
            start = number
        rows.append(fields)
        check_fields(
            fields, len(rows[0]), start, least=_MIN_COLUMNS, file=path, line=number
        )
        if len(rows) > 1 and fields[2] != rows[-2][2]:
            _require_next(fields[2], rows[-2][2], path, number)
    if not start:
        raise InputError(
            f"expected sentences in {_MIN_COLUMNS} or more columns, got none", file=path
        )
    if opened:
        logger.warning(_NO_END, path, opened)


def _require_next(index: str, last: str, path: Path, line: int) -> None:
    """Raises `InputError` if a word of a sentence does not follow the last one."""
    if index == "0":
        problem = "expected an empty line before word 0 of a sentence, got none"
        raise InputError(problem, file=path, line=line)
    if _PART.fullmatch(last) and index.lstrip("0") != str(int(last) + 1):
        problem = f"expected word {int(last) + 1} of a sentence, got {shown(index)}"
        raise InputError(problem, file=path, line=line, hint="is a line missing?")
