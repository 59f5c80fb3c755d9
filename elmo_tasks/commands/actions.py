"""Base classes of subcommands, and `allennlp elmo`, whose module needs no AllenNLP."""

import argparse
from abc import abstractmethod

from allennlp.commands.subcommand import Subcommand

from elmo_tasks.commands import elmo


class Command(Subcommand):
    """A subcommand with a `description` for its own help, and another one, `help`, for the list of commands."""

    description: str
    help: str | None = None

    @abstractmethod
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments, and the function as the default of `func`."""

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        """Called by AllenNLP."""
        text = self.help or self.description
        subparser: argparse.ArgumentParser = parser.add_parser(self.name, description=self.description, help=text)
        self.add_arguments(subparser)
        return subparser


class ActionsCommand(Command):
    """A subcommand with actions, such as `allennlp bilm export`; without an action its help is printed."""

    @abstractmethod
    def add_actions(self, actions: argparse._SubParsersAction) -> None:
        """Add a parser for each action, with its function as the default of `func`."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.set_defaults(func=lambda _: parser.print_help())
        self.add_actions(parser.add_subparsers(title="Actions", metavar=""))


@Subcommand.register("elmo")
class Elmo(Subcommand):
    """`allennlp elmo IN OUT`."""

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        """Called by AllenNLP."""
        return elmo.add_parser(parser)
