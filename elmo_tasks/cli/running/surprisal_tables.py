"""
The tables that `elmo-tasks bilm surprisal` writes. `bilm score` opens its model, text
and table in the same way.
"""

import argparse
import math
import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, TextIO

from elmo_tasks.bilm.characters import BEGIN_OF_SENTENCE, END_OF_SENTENCE
from elmo_tasks.cli.arguments import STANDARD_INPUT, table_options
from elmo_tasks.cli.running.perplexities import (
    HEADER,
    cell,
    perplexity_line,
    weights_line,
)
from elmo_tasks.elmo.devices import opened_device
from elmo_tasks.elmo.sentences import words_of
from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.text.raw_text import Split, open_tokenizer
from elmo_tasks.formats.text.regions import words_of_regions
from elmo_tasks.formats.text.tables import Row, read_table, require_text
from elmo_tasks.formats.text.text_files import open_text
from elmo_tasks.option_values import StartState
from elmo_tasks.pretraining.export import TrainedModel, load_trained, packed
from elmo_tasks.pretraining.scores.perplexity import Perplexity
from elmo_tasks.pretraining.scores.surprisal import SentenceSurprisal, WordSurprisal
from elmo_tasks.pretraining.text.sentences import expand_files
from elmo_tasks.system.files import (
    atomic_write,
    check_output_path,
    require_distinct,
    require_new,
)
from elmo_tasks.system.terminal import terminal_bar

_PLACE = ("file", "line", "row")
_COLUMNS = (*_PLACE, "position", "word", "forward", "backward", "oov")
_REGION = "region"
_SUMS = (*_PLACE, "words", "oov", "forward", "backward")


def write_tables(args: argparse.Namespace) -> None:
    """Write the tables, then print the perplexities."""
    names = input_files(args.files)
    kept = _kept_columns(args)
    for name in names:
        if name != STANDARD_INPUT:
            any(one.words for one in _sentences(args, name, kept, str.split))
    outputs = [args.output]
    if args.sentences is not None:
        outputs.append(args.sentences)
    check_outputs(outputs, names, args.model, force=args.force)
    trained, surprisal = open_surprisal(args)
    print(weights_line(trained))
    total = Perplexity()
    reports = []
    with ExitStack() as opened:
        files = [open_table(opened, file) for file in outputs]
        tables = Tables(kept, args.regions is not None, *files)
        opened.enter_context(surprisal.folding.reading())
        bar = opened.enter_context(terminal_bar(unit=" sentences", leave=False))
        for name in names:
            counts = Perplexity()
            sentences = _sentences(args, name, kept, surprisal.split)
            for sentence, one in _surprisals(surprisal, sentences, args.state):
                tables.write(name, sentence, one)
                bar.update()
                if one.words:
                    sums = _counted(one)
                    counts.add(*sums)
                    total.add(*sums)
            reports.append((name, counts.report()))
    print(HEADER)
    if len(names) > 1:
        reports.append(("all", total.report()))
    for name, report in reports:
        print(perplexity_line(name, report))


def check_outputs(
    outputs: list[str], inputs: list[str], model: str | None, *, force: bool
) -> None:
    """
    Raises `InputError` if an output cannot be written, is named twice, would replace an
    input, or without `force` another file.
    """
    require_distinct(outputs)
    read: list[str | Path] = [path_of(name) for name in inputs]
    if model is not None:
        read.append(model)
        read.extend(Path(model).glob("*"))
    for output in outputs:
        check_output_path(output, read=read, device=True)
        if Path(output).is_file() and not force:
            require_new(output)


def input_files(given: Sequence[str]) -> list[str]:
    """
    The files in the order of the arguments, globs in that of their names; each once,
    by the first of its names.
    """
    names: dict[str, str] = {}
    for name in given:
        if name == STANDARD_INPUT:
            names.setdefault(name, name)
            continue
        for file in expand_files([name]):
            shown = name if Path(name).is_file() else str(file)
            names.setdefault(os.path.realpath(file), shown)
    return list(names.values())


def path_of(name: str) -> str:
    """The path of an input file."""
    if name == STANDARD_INPUT:
        return "/dev/stdin"
    return name


def open_surprisal(args: argparse.Namespace) -> tuple[TrainedModel, WordSurprisal]:
    """The language model of the options, for measuring, and their tokenizer."""
    split, _ = open_tokenizer(args.tokenizer)
    device = opened_device(args.device)
    trained = packed(load_trained(args.model), args.precision, device)
    return trained, WordSurprisal(trained.model, trained.vocabulary, tokenizer=split)


class _Sentence(NamedTuple):
    """A row with its words, and the region of each."""

    row: Row
    words: list[str]
    regions: list[int]  # empty without `--regions`


def _kept_columns(args: argparse.Namespace) -> list[str]:
    """The names of `--keep`. Raises `InputError` for invalid ones."""
    if args.keep is None:
        return []
    if args.column is None:
        raise InputError("--keep needs --column", hint="a text has no columns")
    names: list[str] = args.keep.split(",")
    if "" in names:
        raise InputError(
            f"--keep: expected names separated by commas, got {shown(args.keep)}"
        )
    if len(set(names)) < len(names):
        raise InputError(f"--keep: expected each name once, got {shown(args.keep)}")
    for name in names:
        if name in (*_COLUMNS, *_SUMS, _REGION):
            problem = "expected other names than those of the table's own columns"
            raise InputError(
                f"--keep: {problem}, got {name!r}",
                hint="rename the column in the input",
            )
    return names


def _sentences(
    args: argparse.Namespace, name: str, kept: Sequence[str], split: Split
) -> Iterator[_Sentence]:
    """
    The rows of a table, and the lines of a text that have a word. Raises `InputError`
    if no sentence of the file has one.
    """
    has_words = False
    has_regions = args.regions is None
    for row in _rows(args, path_of(name), kept):
        sentence = _sentence(row, args.regions, split, name)
        has_words = has_words or bool(sentence.words)
        has_regions = has_regions or _has_mark(row.text, args.regions)
        if sentence.words or args.column is not None:
            yield sentence
    if not has_words:
        raise InputError("no sentence in this file", file=name)
    if not has_regions:
        problem = f"--regions: expected {args.regions!r} in a sentence, got none"
        raise InputError(problem, file=name)


def _rows(args: argparse.Namespace, file: str, kept: Sequence[str]) -> Iterator[Row]:
    """The lines of a text, or the rows of a table."""
    if args.column is not None:
        yield from read_table(file, args.column, kept, **table_options(args))
        return
    require_text(file, hint="--column NAME reads a column of a table")
    for line, text in open_text(file):
        yield Row(line, text, (), line - 1)


def _sentence(row: Row, mark: str | None, split: Split, name: str) -> _Sentence:
    regions: list[int] = []
    if mark is not None:
        try:
            words, regions = words_of_regions(row.text, mark, split)
        except InputError as error:
            raise InputError(str(error), file=name, line=row.line) from None
    else:
        words = words_of(row.text, split)
        for word in words:
            if " " in word:
                problem = f"expected words without blanks, got {shown(word)}"
                hint = "--regions '|' reads a list of regions"
                raise InputError(problem, file=name, line=row.line, hint=hint)
    return _Sentence(row, words, regions)


def _has_mark(text: str | list[str], mark: str) -> bool:
    """Whether a text may have several regions; a list of regions needs no mark."""
    return not isinstance(text, str) or mark.isspace() or mark in text


def _surprisals(
    surprisal: WordSurprisal, sentences: Iterator[_Sentence], state: StartState
) -> Iterator[tuple[_Sentence, SentenceSurprisal]]:
    """Each sentence and its surprisal."""
    waiting: deque[_Sentence] = deque()

    def words() -> Iterator[list[str]]:
        for sentence in sentences:
            waiting.append(sentence)
            yield sentence.words

    for one in surprisal.iter_score(words(), state=state):
        yield waiting.popleft(), one


def _counted(one: SentenceSurprisal) -> tuple[list[float], list[int], int]:
    """What `Perplexity.add` takes: nats, targets and those that are `<UNK>`."""
    nats = [one.forward_sum * math.log(2), one.backward_sum * math.log(2)]
    return nats, [len(one.words) + 1] * 2, 2 * sum(one.is_unknown)


def open_table(opened: ExitStack, file: str) -> TextIO:
    """A file that appears when `opened` ends without an error."""
    aside = opened.enter_context(atomic_write(file))
    return opened.enter_context(aside.open("w", encoding="utf-8", newline="\n"))


class Tables:
    """
    The table of words and, with a second file, that of sentences.

    # Parameters

    - `kept`: the names of further columns, whose cells each row repeats.
    - `with_regions`: whether the words have regions.
    """

    def __init__(
        self,
        kept: Sequence[str],
        with_regions: bool,
        words: TextIO,
        sentences: TextIO | None = None,
    ) -> None:
        self._words = words
        self._sentences = sentences
        self._with_regions = with_regions
        columns = list(_COLUMNS)
        if with_regions:
            columns.append(_REGION)
        write_row(words, *columns, *kept)
        if sentences is not None:
            write_row(sentences, *_SUMS, *kept)

    def write(self, file: str, sentence: _Sentence, one: SentenceSurprisal) -> None:
        row = sentence.row
        place = (file, row.line, row.number)
        if one.words:
            self._write_words(place, sentence, one)
        if self._sentences is not None:
            write_row(
                self._sentences,
                *place,
                len(one.words),
                sum(one.is_unknown),
                bits(one.forward_sum),
                bits(one.backward_sum),
                *row.kept,
            )

    def _write_words(
        self, place: tuple[object, ...], sentence: _Sentence, one: SentenceSurprisal
    ) -> None:
        rows: list[list[object]] = []
        rows.append([BEGIN_OF_SENTENCE, "", bits(one.begin), 0])
        columns = zip(one.words, one.forward, one.backward, one.is_unknown, strict=True)
        for word, forward, backward, is_unknown in columns:
            rows.append([word, bits(forward), bits(backward), int(is_unknown)])
        rows.append([END_OF_SENTENCE, bits(one.end), "", 0])
        if self._with_regions:
            for row, region in zip(rows, ["", *sentence.regions, ""], strict=True):
                row.append(region)
        for position, row in enumerate(rows):
            write_row(self._words, *place, position, *row, *sentence.row.kept)


def bits(value: float) -> str:
    """A number of bits in a table."""
    return f"{value:.6f}"


def write_row(table: TextIO, *cells: object) -> None:
    table.write("\t".join([cell(str(value)) for value in cells]) + "\n")
