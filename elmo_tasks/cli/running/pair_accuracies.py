"""What `elmo-tasks bilm score` prints and writes."""

import argparse
from contextlib import ExitStack
from typing import Any

from elmo_tasks.cli.running.perplexities import cell
from elmo_tasks.cli.running.surprisal_tables import (
    Table,
    check_outputs,
    input_files,
    open_surprisal,
    open_table,
    path_of,
)
from elmo_tasks.pretraining.scores.minimal_pairs import (
    CHANCE,
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
            table = Table(open_table(opened, args.output))
        bar = opened.enter_context(terminal_bar(unit=" pairs", leave=False))
        pairs = read_pairs(names, surprisal.split, group=args.group)
        for scored in score_pairs(surprisal, pairs):
            counts.add(scored)
            if table is not None:
                table.write(_row(scored))
            bar.update()
    words = f"{len(trained.vocabulary):,} words"
    print(f"weights of {trained.source}, {words}; guessing has {CHANCE:.0f} %")
    print(_HEADER)
    for row in counts.accuracies():
        print(_line(row))


def _line(row: GroupAccuracy) -> str:
    cells = [f"{row.pairs:>7,}"]
    for found in (row.forward, row.backward, row.mean):
        interval = f"{found.low:.2f} - {found.high:.2f}"
        cells += [f"{found.percent:>8.2f}", f"{interval:>15}"]
    cells += [f"{row.ties:>5,}", f"{row.unknown:>8.2f}", f" {cell(row.group)}"]
    return " ".join(cells)


def _row(scored: ScoredPair) -> dict[str, Any]:
    pair, good, bad, _ = scored
    return {
        "file": pair.file,
        "line": pair.line,
        "row": pair.row,
        "group": pair.group,
        "oov": scored.has_unknown,
        "good_forward": good.forward_sum,
        "bad_forward": bad.forward_sum,
        "good_backward": good.backward_sum,
        "bad_backward": bad.backward_sum,
    }
