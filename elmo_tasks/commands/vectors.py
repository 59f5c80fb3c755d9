"""`allennlp elmo`, the same command as `elmo-tasks elmo`, which does not need AllenNLP."""

import argparse

from allennlp.commands.subcommand import Subcommand

from elmo_tasks.commands.elmo import add_parser


@Subcommand.register("elmo")
class Elmo(Subcommand):
    """`allennlp elmo IN OUT`."""

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        """Called by AllenNLP."""
        return add_parser(parser)
