"""
The tables that `elmo-tasks bilm surprisal` writes. `bilm score` opens its model, text
and table in the same way.
"""

import argparse
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import compress
from pathlib import Path
from textwrap import shorten
from typing import Any, TextIO

from elmo_tasks.cli.arguments import STANDARD_INPUT, table_options
from elmo_tasks.cli.running.perplexities import cell, weights_line
from elmo_tasks.elmo.devices import opened_device
from elmo_tasks.errors import shown
from elmo_tasks.pretraining.export import TrainedModel, load_trained, packed
from elmo_tasks.pretraining.scores.file_sentences import read_file
from elmo_tasks.pretraining.scores.surprisal import WordSurprisal, require_kept
from elmo_tasks.pretraining.text.sentences import expand_files
from elmo_tasks.system.files import (
    atomic_write,
    check_output_path,
    require_distinct,
)
from elmo_tasks.system.terminal import terminal_bar

TABLE = ("a table with tabs, such as words.tsv", ".tsv")
"""A format, as in `check_output_path`."""


def write_tables(args: argparse.Namespace) -> None:
    """Write the tables."""
    names = input_files(args.files)
    options = table_options(args) | {
        "column": args.column,
        "keep": args.keep.split(",") if args.keep is not None else [],
        "regions": args.regions,
    }
    require_kept(options["keep"], args.column)
    for name in names:
        if name != STANDARD_INPUT:
            any(one.words for one in read_file(name, str.split, **options))
    outputs = [args.output]
    if args.sentences is not None:
        outputs.append(args.sentences)
    check_outputs(outputs, names, args.model, force=args.force)
    trained, surprisal = open_surprisal(args)
    print(weights_line(trained))
    with ExitStack() as opened:
        tables = [Table(open_table(opened, file)) for file in outputs]
        opened.enter_context(surprisal.folding.reading())
        bar = opened.enter_context(terminal_bar(unit=" sentences", leave=False))
        count, unknown = 0, Counter[str]()
        for name in names:
            file = path_of(name)
            for one in surprisal.iter_file(file, state=args.state, **options):
                words, is_unknown = one.surprisal[:2]
                count += len(words)
                unknown.update(compress(words, is_unknown))
                for row in one.rows():
                    tables[0].write(row | {"file": name})
                for table in tables[1:]:
                    table.write(one.sums() | {"file": name})
                bar.update()
    said = f"{unknown.total()} of {count} words are outside the vocabulary (oov)"
    if unknown:
        said += f": {shorten(', '.join(map(shown, unknown)), 1_000)}"
    print(said)


def check_outputs(
    outputs: list[str], inputs: list[str], model: str | None, *, force: bool
) -> None:
    """
    Raises `InputError` if an output cannot be written, is named as another format or
    twice, would replace an input, or without `force` another file.
    """
    require_distinct(outputs)
    read: list[str | Path] = [path_of(name) for name in inputs]
    if model is not None:
        read.append(model)
        read.extend(Path(model).glob("*"))
    for output in outputs:
        check_output_path(output, read=read, device=True, force=force, format=TABLE)


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
    device = opened_device(args.device)
    trained = packed(load_trained(args.model), args.precision, device)
    return trained, WordSurprisal(
        trained.model, trained.vocabulary, tokenizer=args.tokenizer
    )


def open_table(opened: ExitStack, file: str) -> TextIO:
    """A file that appears when `opened` ends without an error."""
    aside = opened.enter_context(atomic_write(file))
    return opened.enter_context(aside.open("w", encoding="utf-8", newline="\n"))


class Table:
    """A table of rows with the same columns, separated by tabs; bits have 6 digits."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._has_header = False

    def write(self, row: dict[str, Any]) -> None:
        if not self._has_header:
            self._write_cells(list(row))
            self._has_header = True
        self._write_cells([_cell(value) for value in row.values()])

    def _write_cells(self, cells: Sequence[str]) -> None:
        self._file.write("\t".join([cell(text) for text in cells]) + "\n")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.6f}"
    return str(value)
