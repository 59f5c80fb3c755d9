"""What `elmo-tasks bilm score` prints and writes."""

import argparse
from contextlib import ExitStack
from typing import TextIO

from elmo_tasks.cli.running.documents import print_document
from elmo_tasks.cli.running.perplexities import cell
from elmo_tasks.cli.running.surprisal_tables import (
    bits,
    check_outputs,
    input_files,
    open_surprisal,
    open_table,
    path_of,
    write_row,
)
from elmo_tasks.pretraining.scores.minimal_pairs import (
    CHANCE,
    Accuracy,
    GroupAccuracy,
    GroupCounts,
    ScoredPair,
    read_pairs,
    score_pairs,
)
from elmo_tasks.system.terminal import terminal_bar

_INTERVAL = "95 % interval"
_HEADER = (
    f"{'pairs':>7} {'forward':>8} {_INTERVAL:>15} {'backward':>8} {_INTERVAL:>15} {'mean':>8} {_INTERVAL:>15}"
    f" {'ties':>5} {'<UNK> %':>8}  group"
)
_COLUMNS = (
    "file",
    "line",
    "row",
    "group",
    "oov",
    "good_forward",
    "bad_forward",
    "good_backward",
    "bad_backward",
)


def print_accuracies(args: argparse.Namespace) -> None:
    """Score the pairs with a progress bar, then print their accuracies."""
    names = [path_of(name) for name in input_files(args.pairs)]
    outputs = [] if args.output is None else [args.output]
    check_outputs(outputs, names, args.model, force=args.force)
    trained, surprisal = open_surprisal(args)
    counts = GroupCounts()
    with ExitStack() as opened:
        table = None
        if args.output is not None:
            table = open_table(opened, args.output)
            write_row(table, *_COLUMNS)
        bar = opened.enter_context(terminal_bar(unit=" pairs", leave=False))
        pairs = read_pairs(names, surprisal.split, group=args.group)
        for scored in score_pairs(surprisal, pairs):
            counts.add(scored)
            if table is not None:
                _write_pair(table, scored)
            bar.update()
    rows = counts.accuracies()
    if args.json:
        size = len(trained.vocabulary)
        print_document({"model": trained.source, "vocabulary": size, "groups": rows})
        return
    words = f"{len(trained.vocabulary):,} words"
    print(f"weights of {trained.source}, {words}; guessing has {CHANCE:.0f} %")
    print(_HEADER)
    for row in rows:
        print(_line(row))


def _line(row: GroupAccuracy) -> str:
    cells = [f"{row.pairs:>7,}"]
    for found in (row.forward, row.backward, row.mean):
        cells += [f"{found.percent:>8.2f}", _interval(found)]
    cells += [f"{row.ties:>5,}", f"{row.unknown:>8.2f}", f" {cell(row.group)}"]
    return " ".join(cells)


def _interval(found: Accuracy) -> str:
    return f"{found.low:.2f} - {found.high:.2f}".rjust(15)


def _write_pair(table: TextIO, scored: ScoredPair) -> None:
    pair, good, bad, _ = scored
    write_row(
        table,
        pair.file,
        pair.line,
        pair.row,
        pair.group,
        int(scored.has_unknown),
        bits(good.forward_sum),
        bits(bad.forward_sum),
        bits(good.backward_sum),
        bits(bad.backward_sum),
    )
