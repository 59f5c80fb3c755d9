"""Subcommands with actions, such as `allennlp bilm export`, and `allennlp elmo`, whose module needs no AllenNLP."""

import argparse
from abc import abstractmethod

from allennlp.commands.subcommand import Subcommand

from elmo_tasks.commands import elmo


class ActionsSubcommand(Subcommand):
    """Subclasses have a `description` and add their actions; without an action the help is printed."""

    description: str

    @abstractmethod
    def add_actions(self, actions: argparse._SubParsersAction) -> None:
        """Add a parser for each action, with its function as the default of `func`."""

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        """Called by AllenNLP."""
        subparser: argparse.ArgumentParser = parser.add_parser(
            self.name, description=self.description, help=self.description
        )
        subparser.set_defaults(func=lambda _: subparser.print_help())
        self.add_actions(subparser.add_subparsers(title="Actions", metavar=""))
        return subparser


@Subcommand.register("elmo")
class Elmo(Subcommand):
    """`allennlp elmo IN OUT`."""

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        """Called by AllenNLP."""
        return elmo.add_parser(parser)
