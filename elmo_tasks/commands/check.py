"""`allennlp check`: all problems of a config, before training."""

import argparse
import sys

from allennlp.commands.subcommand import Subcommand

from elmo_tasks.checks.config import check_config


@Subcommand.register("check")
class Check(Subcommand):
    """`allennlp check CONFIG...`."""

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        """Called by AllenNLP."""
        description = (
            "Report all problems of configs: unknown keys, invalid types, names and sizes, missing files and GPUs."
            " Exit status 0 if there is no problem."
            " `allennlp train --dry-run` builds the model, too."
        )
        subparser: argparse.ArgumentParser = parser.add_parser(
            self.name, description=description, help="report all problems of configs, without training"
        )
        subparser.add_argument("configs", metavar="CONFIG", nargs="+", help="as for allennlp train")
        subparser.add_argument("-o", "--overrides", default="", help="as for allennlp train, for each config")
        subparser.set_defaults(func=check)
        return subparser


def check(args: argparse.Namespace) -> None:
    """Print a line per config and one per problem; exit with 1 if there is any."""
    found = False
    for file in args.configs:
        problems = check_config(file, args.overrides)
        found |= bool(problems)
        count = len(problems) or "no"
        print(f"{file}: {count} problem{'' if count == 1 else 's'}")
        for problem in problems:
            print(f"  {problem}", flush=True)
    sys.exit(1 if found else 0)
