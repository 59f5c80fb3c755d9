"""`allennlp cache`: what a folder that `cache_dir` names holds, and emptying it."""

import argparse
from pathlib import Path

from allennlp.commands.subcommand import Subcommand

from elmo_tasks.commands.actions import ActionsSubcommand
from elmo_tasks.elmo.cache_folder import CachedBiLm, CacheStatistics, clear, statistics

_SHOWN_DIGITS = 12
_COUNTS = f"{'sentences':>12} {'tokens':>14} {'bytes':>18} {'damaged':>8}"
_HEADER = f"{'weights':<{_SHOWN_DIGITS}} {'options':<{_SHOWN_DIGITS}} state precision stored   {_COUNTS}  files"


@Subcommand.register("cache")
class Cache(ActionsSubcommand):
    """`allennlp cache stats | clear`."""

    description = "Look at the layer cache of frozen biLMs, or empty it."

    def add_actions(self, actions: argparse._SubParsersAction) -> None:
        """One parser each."""
        _add_stats(actions)
        _add_clear(actions)


def _add_stats(actions: argparse._SubParsersAction) -> None:
    description = "A line for each biLM whose layers are there. Every entry is read and checked."
    parser = actions.add_parser("stats", description=description, help="what is there, and whether it is sound")
    parser.add_argument("dir", metavar="DIR", help="the folder that cache_dir names")
    parser.set_defaults(func=show_statistics)


def _add_clear(actions: argparse._SubParsersAction) -> None:
    description = "Remove the stored layers, and no other file of the folder. A run that uses them goes on without."
    parser = actions.add_parser("clear", description=description, help="remove the stored layers")
    parser.add_argument("dir", metavar="DIR", help="the folder that cache_dir names")
    parser.add_argument(
        "--weights", metavar="SHA|FILE", help="only those of this weight file, or of the sha256 that begins so"
    )
    parser.set_defaults(func=remove)


def show_statistics(args: argparse.Namespace) -> None:
    """Prints a line per biLM."""
    found = statistics(args.dir)
    print(_HEADER)
    for held in found:
        print(_line(held))


def remove(args: argparse.Namespace) -> None:
    """Runs `clear` and prints a line per biLM that it removed."""
    for held in clear(args.dir, weights=args.weights):
        print(f"removed {held.bytes:,} bytes, {held.sentences:,} sentences of {_names(held.bilm)}")


def _line(held: CacheStatistics) -> str:
    bilm = held.bilm
    hashes = f"{bilm.weights_sha256[:_SHOWN_DIGITS]} {bilm.options_sha256[:_SHOWN_DIGITS]}"
    counts = f"{held.sentences:>12,} {held.tokens:>14,} {held.bytes:>18,} {held.damaged:>8,}"
    return f"{hashes} {bilm.state:<5} {bilm.precision:<9} {bilm.dtype:<8} {counts}  {_names(bilm)}"


def _names(bilm: CachedBiLm) -> str:
    return f"{Path(bilm.weight_file).name}, {Path(bilm.options_file).name}"
