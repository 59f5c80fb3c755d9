"""
OntoNotes in the columns of CoNLL-2012, which SRL and coreference read: documents of sentences of annotated words.

| column | what it holds |
|---|---|
| 1, 2, 3 | document, part, number of the word in its sentence |
| 4, 5, 6 | word, part of speech, bit of the parse (may be a dummy: nothing here reads it) |
| 7, 8, 9 | lemma of a predicate, its frameset, sense of the word |
| 10, 11 | speaker or author, named entities |
| 12 to the last but one | arguments, a column for each word that has a frameset, in their order |
| the last | coreference |

Blanks and tabs separate columns. `#begin document (KEY); part 000` opens a document, `#end document` closes it, an
empty line ends a sentence; other lines that begin with `#` and have too few columns for a word are comments.
"""

import glob
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.data.brackets import BracketError, mentions_from_brackets, spans_from_brackets
from elmo_tasks.data.files import open_text, refuse_carriage_return
from elmo_tasks.data.spans import Span
from elmo_tasks.errors import InputError, shown

logger = logging.getLogger(__name__)

NONE = "-"
"""What stands where a word has no lemma, frameset, sense or speaker."""

PREDICATE_LABELS = ("V", "C-V")
"""The labels of the predicate itself among its arguments."""

CORPUS_HINT = (
    "OntoNotes 5.0 is LDC2013T19 at https://catalog.ldc.upenn.edu; "
    "https://cemantix.org/conll/2012/data.html turns it into CoNLL-2012 columns"
)
_SUFFIXES = ("gold_conll", "gold_conll.gz")
_FIRST_FRAME = 11
_MIN_COLUMNS = 12
# `str.split()` would also cut at no-break spaces, which are part of some tokens.
_GAP = re.compile(r"[ \t]+")
_BEGIN, _END = "#begin document", "#end document"
_MARKS = (_BEGIN, _END)
_BEGIN_LINE = re.compile(rf"{_BEGIN} \((.*)\)(?:; part ([0-9]{{1,9}}))?\s*")
_PART = re.compile("[0-9]{1,9}")


class Frame(NamedTuple):
    """
    A predicate and its arguments.

    # Parameters

    predicate : `int`
        The word that has the frameset, counted from 0.
    lemma, frameset : `str`
        Such as `kill` and `01`.
    arguments : `tuple[Span, ...]`
        By their start, with labels such as `ARG0`, `C-ARG1` and `R-ARGM-LOC`; the predicate itself is among them as
        `V`, of several words maybe, which may go on as `C-V`.
    """

    predicate: int
    lemma: str
    frameset: str
    arguments: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class OntonotesSentence:
    """
    One sentence of T words. Frames, names and mentions are read off their columns when they are asked for.

    # Parameters

    file : `str`
    line : `int`
        The line of the first word; word t stands on line `line + t`.
    columns : `tuple[tuple[str, ...], ...]`
        12 or more columns of T strings each.
    """

    file: str
    line: int
    columns: tuple[tuple[str, ...], ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words as the file has them."""
        return self.columns[3]

    @property
    def pos(self) -> tuple[str, ...]:
        """Parts of speech."""
        return self.columns[4]

    @property
    def parse_bits(self) -> tuple[str, ...]:
        """Bits of the parse."""
        return self.columns[5]

    @property
    def lemmas(self) -> tuple[str, ...]:
        """Lemmas of predicates, `-` elsewhere."""
        return self.columns[6]

    @property
    def framesets(self) -> tuple[str, ...]:
        """Framesets of predicates, `-` elsewhere."""
        return self.columns[7]

    @property
    def word_senses(self) -> tuple[str, ...]:
        """Senses of words, `-` where there is none."""
        return self.columns[8]

    @property
    def speakers(self) -> tuple[str, ...]:
        """Speakers or authors, `-` where there is none."""
        return self.columns[9]

    def names(self) -> tuple[Span, ...]:
        """
        Named entities by their start.

        # Raises

        `InputError`
            With file and line, if brackets do not match.
        """
        return self._spans(10)

    def mentions(self, *, of: str = "coreference") -> tuple[Span, ...]:
        """
        Coreference by the start of the mentions; the label is the number of the cluster in its document.

        # Parameters

        of : `str`
            What a message begins with: the column, and maybe the document.

        # Raises

        `InputError`
            With file and line, if brackets do not match.
        """
        try:
            return mentions_from_brackets(self.columns[-1])
        except BracketError as error:
            raise self._error(f"{of}: {error}", error.token) from None

    def frames(self) -> tuple[Frame, ...]:
        """
        A frame for each word that has a frameset, in their order.

        # Raises

        `InputError`
            With file and line, if brackets do not match, or the columns do not match the predicates: there are more or
            fewer, or one has its predicate elsewhere.
        """
        predicates = [token for token, frameset in enumerate(self.framesets) if frameset != NONE]
        columns = range(_FIRST_FRAME, len(self.columns) - 1)
        if len(columns) != len(predicates):
            raise self._error(f"{len(predicates)} words have a frameset, but {len(columns)} columns hold arguments", 0)
        return tuple(self._frame(*pair) for pair in zip(predicates, columns, strict=True))

    def _frame(self, predicate: int, column: int) -> Frame:
        arguments = self._spans(column)
        own = (span for span in arguments if span.label in PREDICATE_LABELS)
        if not any(span.start <= predicate < span.end for span in own):
            problem = f"column {column + 1} has no '(V' over its predicate {self.words[predicate]!r}"
            raise self._error(problem, predicate)
        return Frame(predicate, self.lemmas[predicate], self.framesets[predicate], arguments)

    def _spans(self, column: int) -> tuple[Span, ...]:
        try:
            return spans_from_brackets(self.columns[column])
        except BracketError as error:
            raise self._error(f"column {column + 1}: {error}", error.token) from None

    def _error(self, problem: str, token: int) -> InputError:
        return InputError(problem, file=self.file, line=self.line + token)


@dataclass(frozen=True, slots=True)
class OntonotesDocument:
    """
    # Parameters

    key : `str`
        Such as `bc/cctv/00/cctv_0000`.
    part : `int`
        Long documents are cut into parts, whose clusters are counted anew.
    sentences : `tuple[OntonotesSentence, ...]`
        At least one.
    """

    key: str
    part: int
    sentences: tuple[OntonotesSentence, ...]


def find_files(path: str | Path) -> list[Path]:
    """
    The files behind a path, sorted: those below a folder whose names end in `gold_conll` or `gold_conll.gz` (so
    `.v4_gold_conll` too), those that fit a pattern with `*` or `**`, or the one file, whatever its name.

    # Raises

    `InputError`
        If a folder has no such file, or no file fits the pattern.
    """
    target = Path(path)
    if target.is_dir():
        found = [file for file in target.rglob("*") if file.name.endswith(_SUFFIXES) and file.is_file()]
        problem = "no file below this folder ends in .gold_conll or .v4_gold_conll"
    elif glob.has_magic(str(path)) and not target.exists():
        found = [Path(file) for file in glob.glob(str(path), recursive=True) if Path(file).is_file()]
        problem = "no file fits this pattern"
    else:
        return [target]
    if not found:
        raise InputError(problem, file=path, hint=CORPUS_HINT)
    return sorted(found)


def read_documents(path: str | Path) -> Iterator[OntonotesDocument]:
    """
    Streams the documents of one file, plain or gzip. Words outside `#begin` and `#end` belong to the document that
    their first two columns name. A document without its end is told in the log: the file may have been cut off.

    # Raises

    `InputError`
        With file and line: if a line has too few columns or not as many as the sentence's first one, a document comes
        twice, or the file holds no sentence; besides, whatever `open_text` raises.
    """
    for document, sentences in groupby(_Sentences(path), key=lambda pair: pair[0]):
        yield OntonotesDocument(document.key, document.part, tuple(sentence for _, sentence in sentences))


class _Header(NamedTuple):
    """A document's name, and the line where it begins; 0 for words outside `#begin` and `#end`."""

    key: str
    part: int
    line: int = 0


class _Sentences:
    """Each sentence of a file with its document's header."""

    def __init__(self, path: str | Path) -> None:
        self._path = path
        self._header: _Header | None = None
        self._begun: dict[tuple[str, int], int] = {}
        self._rows: list[list[str]] = []

    def __iter__(self) -> Iterator[tuple[_Header, OntonotesSentence]]:
        number = found = 0
        for number, line in open_text(self._path, corpus_hint=CORPUS_HINT):
            fields = [field for field in _GAP.split(line) if field]
            mark = line.startswith(_MARKS)
            if line.startswith("#") and not mark and len(fields) < _MIN_COLUMNS:
                continue
            if fields and not mark:
                refuse_carriage_return(line, file=self._path, line=number)
                self._rows.append(self._checked(fields, number))
                continue
            if self._rows:
                yield self._finished(end=number)
                found += 1
            if mark:
                self._mark(line, number)
        if self._rows:
            yield self._finished(end=number + 1)
        elif not found:
            raise InputError("no sentence found: lines of 12 or more columns were wanted", file=self._path)
        self._warn_of_open_document()

    def _checked(self, fields: list[str], number: int) -> list[str]:
        rows = self._rows
        if len(fields) < _MIN_COLUMNS:
            problem = f"at least {_MIN_COLUMNS} columns were wanted, found {len(fields)}"
            raise InputError(problem, file=self._path, line=number)
        if rows and len(fields) != len(rows[0]):
            problem = f"{len(rows[0])} columns were wanted as on line {number - len(rows)}, found {len(fields)}"
            raise InputError(problem, file=self._path, line=number)
        return fields

    def _finished(self, *, end: int) -> tuple[_Header, OntonotesSentence]:
        """The sentence of which the last word stands on the line before `end`."""
        rows, self._rows = self._rows, []
        sentence = OntonotesSentence(str(self._path), end - len(rows), tuple(zip(*rows, strict=True)))
        return self._header or _Header(rows[0][0], _part(rows[0][1])), sentence

    def _mark(self, line: str, number: int) -> None:
        """Takes in where a document begins or ends."""
        if line.startswith(_END):
            self._header = None
            return
        match = _BEGIN_LINE.fullmatch(line)
        if match is None:
            problem = f"'#begin document (KEY); part 000' was wanted, found {shown(line)}"
            raise InputError(problem, file=self._path, line=number)
        self._warn_of_open_document()
        name = match[1], _part(match[2] or "0")
        if name in self._begun:
            problem = f"the document ({name[0][:60]}); part {name[1]:03d} begins on line {self._begun[name]} already"
            raise InputError(problem, file=self._path, line=number)
        self._begun[name] = number
        self._header = _Header(*name, line=number)

    def _warn_of_open_document(self) -> None:
        if self._header is not None:
            message = "%s:%d: the document that begins here has no '#end document'; is the file whole?"
            logger.warning(message, self._path, self._header.line)


def _part(text: str) -> int:
    return int(text) if _PART.fullmatch(text) else 0
