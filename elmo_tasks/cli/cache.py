"""`elmo-tasks cache`: what a folder that `cache_dir` names holds, and emptying it."""

import argparse
from pathlib import Path

from elmo_tasks.cli.actions import ActionsCommand
from elmo_tasks.elmo.cache import CacheStatistics, Description, clear, statistics

_STATS = "One line per biLM. Every entry is read and checked; the bytes include those of earlier versions."
_CLEAR = "Remove the cached layers, and no other file of the folder. A run that uses them continues."
_SHOWN_DIGITS = 12
_COUNTS = f"{'sentences':>12} {'tokens':>14} {'bytes':>18} {'damaged':>8}"
_HEADER = f"{'weights':<{_SHOWN_DIGITS}} {'options':<{_SHOWN_DIGITS}} state precision stored   {_COUNTS}  files"


class Cache(ActionsCommand):
    """`elmo-tasks cache stats | clear`."""

    description = "Inspect or clear the layer cache of frozen biLMs."

    def add_actions(self, actions: argparse._SubParsersAction) -> None:
        """One parser each."""
        stats = actions.add_parser("stats", description=_STATS, help="show what is cached, and check it")
        clear = actions.add_parser("clear", description=_CLEAR, help="remove the cached layers")
        for parser, function in ((stats, show_statistics), (clear, remove)):
            parser.add_argument("dir", metavar="DIR", help="the folder that cache_dir names")
            parser.set_defaults(func=function)
        clear.add_argument(
            "--weights", metavar="SHA|FILE", help="only of this weight file, or first digits of its sha256"
        )


def show_statistics(args: argparse.Namespace) -> None:
    """Prints a line per biLM."""
    print(_HEADER, *map(_line, statistics(args.dir)), sep="\n")


def remove(args: argparse.Namespace) -> None:
    """Runs `clear` and prints a line per biLM that it removed."""
    for bilm, size in clear(args.dir, weights=args.weights):
        print(f"removed {size:,} bytes of {_names(bilm)}")


def _line(cached: CacheStatistics) -> str:
    bilm = cached.bilm
    hashes = f"{bilm['weights_sha256'][:_SHOWN_DIGITS]} {bilm['options_sha256'][:_SHOWN_DIGITS]}"
    counts = f"{cached.sentences:>12,} {cached.tokens:>14,} {cached.bytes:>18,} {cached.damaged:>8,}"
    return f"{hashes} {bilm['state']:<5} {bilm['precision']:<9} {bilm['dtype']:<8} {counts}  {_names(bilm)}"


def _names(bilm: Description) -> str:
    return f"{Path(bilm['weight_file']).name}, {Path(bilm['options_file']).name}"
