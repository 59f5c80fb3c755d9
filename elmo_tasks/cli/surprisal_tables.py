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
from typing import TextIO

from tqdm import tqdm

from elmo_tasks.bilm.characters import BEGIN_OF_SENTENCE, END_OF_SENTENCE
from elmo_tasks.cli.arguments import STANDARD_INPUT
from elmo_tasks.cli.layer_sources import device_of
from elmo_tasks.cli.perplexities import HEADER, cell, perplexity_line, weights_line
from elmo_tasks.files import (
    atomic_write,
    check_output_path,
    require_distinct,
    require_new,
)
from elmo_tasks.formats.raw_text import Split, open_tokenizer
from elmo_tasks.formats.text_files import not_empty, open_text
from elmo_tasks.option_values import StartState
from elmo_tasks.pretraining.evaluation import Perplexity
from elmo_tasks.pretraining.export import TrainedModel, load_trained, packed
from elmo_tasks.pretraining.sentences import check_text, expand_files
from elmo_tasks.pretraining.surprisal import SentenceSurprisal, WordSurprisal

_ADVICE = "--tokenizer basic splits raw text"

_COLUMNS = ("file", "line", "position", "word", "forward", "backward", "oov")
_SUMS = ("file", "line", "words", "oov", "forward", "backward")


def write_tables(args: argparse.Namespace) -> None:
    """Write the tables, then print the perplexities."""
    names = input_files(args.files)
    check_text([Path(name) for name in names if name != STANDARD_INPUT])
    outputs = [args.out]
    if args.sentences is not None:
        outputs.append(args.sentences)
    check_outputs(outputs, names, args.model, force=args.force)
    split = open_split(args)
    trained = open_trained(args)
    surprisal = WordSurprisal(trained.model, trained.vocabulary)
    print(weights_line(trained))
    total = Perplexity()
    reports = []
    with ExitStack() as opened:
        tables = Tables(*[open_table(opened, file) for file in outputs])
        bar = opened.enter_context(tqdm(unit=" sentences", disable=None, leave=False))
        for name in names:
            counts = Perplexity()
            for line, one in _surprisals(surprisal, name, split, args.state):
                tables.write(name, line, one)
                sums = _counted(one)
                counts.add(*sums)
                total.add(*sums)
                bar.update()
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


def open_split(args: argparse.Namespace) -> Split:
    """The tokenizer."""
    split, _ = open_tokenizer(args.tokenizer, advice=_ADVICE)
    return split


def open_trained(args: argparse.Namespace) -> TrainedModel:
    """The language model of the options, for measuring."""
    device = device_of(args)
    return packed(load_trained(args.model), args.precision, device)


def _surprisals(
    surprisal: WordSurprisal, name: str, split: Split, state: StartState
) -> Iterator[tuple[int, SentenceSurprisal]]:
    """
    The number of each line that is not blank, and its surprisal. Raises `InputError` if
    there is none.
    """
    numbers: deque[int] = deque()

    def sentences() -> Iterator[list[str]]:
        for number, line in open_text(path_of(name)):
            words = split(line)
            if words:
                numbers.append(number)
                yield words

    lines = not_empty(sentences(), "no sentence in this file", name)
    for one in surprisal.iter_score(lines, state=state):
        yield numbers.popleft(), one


def _counted(one: SentenceSurprisal) -> tuple[list[float], list[int], int]:
    """What `Perplexity.add` takes: nats, targets and those that are `<UNK>`."""
    nats = [one.forward_sum * math.log(2), one.backward_sum * math.log(2)]
    return nats, [len(one.words) + 1] * 2, 2 * sum(one.is_unknown)


def open_table(opened: ExitStack, file: str) -> TextIO:
    """A file that appears when `opened` ends without an error."""
    aside = opened.enter_context(atomic_write(file))
    return opened.enter_context(aside.open("w", encoding="utf-8", newline="\n"))


class Tables:
    """The table of words and, with a second file, that of sentences."""

    def __init__(self, words: TextIO, sentences: TextIO | None = None) -> None:
        self._words = words
        self._sentences = sentences
        write_row(words, *_COLUMNS)
        if sentences is not None:
            write_row(sentences, *_SUMS)

    def write(self, file: str, line: int, one: SentenceSurprisal) -> None:
        rows: list[tuple[str, str, str, int]] = []
        rows.append((BEGIN_OF_SENTENCE, "", bits(one.begin), 0))
        columns = zip(one.words, one.forward, one.backward, one.is_unknown, strict=True)
        for word, forward, backward, is_unknown in columns:
            rows.append((word, bits(forward), bits(backward), int(is_unknown)))
        rows.append((END_OF_SENTENCE, bits(one.end), "", 0))
        for position, row in enumerate(rows):
            write_row(self._words, file, line, position, *row)
        if self._sentences is not None:
            write_row(
                self._sentences,
                file,
                line,
                len(one.words),
                sum(one.is_unknown),
                bits(one.forward_sum),
                bits(one.backward_sum),
            )


def bits(value: float) -> str:
    """A number of bits in a table."""
    return f"{value:.6f}"


def write_row(table: TextIO, *cells: object) -> None:
    table.write("\t".join([cell(str(value)) for value in cells]) + "\n")
