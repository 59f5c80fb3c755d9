"""Subcommands that have actions of their own, as `allennlp bilm export` has."""

import argparse
from abc import abstractmethod

from allennlp.commands.subcommand import Subcommand


class ActionsSubcommand(Subcommand):
    """A child says what it is for, and adds its actions; without an action its help is shown."""

    description: str

    @abstractmethod
    def add_actions(self, actions: argparse._SubParsersAction) -> None:
        """Adds a parser for each action, whose default `func` runs it."""

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        """Called by AllenNLP."""
        subparser: argparse.ArgumentParser = parser.add_parser(
            self.name, description=self.description, help=self.description
        )
        subparser.set_defaults(func=lambda _: subparser.print_help())
        self.add_actions(subparser.add_subparsers(title="Actions", metavar=""))
        return subparser
