"""Base classes of the commands of `elmo-tasks`."""

import argparse
from abc import ABC, abstractmethod
from pathlib import Path


class Command(ABC):
    """A command with a `description` for its own help."""

    description: str
    includes_packages = True
    """Whether the command has `--include-package`."""

    @abstractmethod
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments, and the function as the default of `func`."""

    def add_parser(self, parsers: argparse._SubParsersAction, name: str, text: str) -> None:
        """Add the command to a program."""
        parser: argparse.ArgumentParser = parsers.add_parser(name, description=self.description, help=text)
        self.add_arguments(parser)
        if self.includes_packages:
            add_packages(parser)


class ActionsCommand(Command):
    """A command with actions, such as `elmo-tasks bilm export`; without an action its help is printed."""

    @abstractmethod
    def add_actions(self, actions: argparse._SubParsersAction) -> None:
        """Add a parser for each action, with its function as the default of `func`."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.set_defaults(func=lambda _: parser.print_help())
        self.add_actions(parser.add_subparsers(title="Actions", metavar=""))


def add_packages(parser: argparse.ArgumentParser) -> None:
    """Adds `--include-package`, as AllenNLP's commands have it."""
    parser.add_argument(
        "--include-package", metavar="NAME", action="append", default=[], help="a package that registers more classes"
    )


def add_model(parser: argparse.ArgumentParser, file: str) -> None:
    """Adds the arguments of commands that load a trained model and read a file."""
    add = parser.add_argument
    add("archive_file", metavar="ARCHIVE", help="model.tar.gz, or the folder of a run")
    add("input_file", metavar="FILE", help=file)
    add("--weights-file", metavar="FILE", help="other weights than those in the archive")
    add("--cuda-device", type=int, default=-1, metavar="N", help="a GPU (-1: the CPU)")
    add(
        "-o", "--overrides", default="", metavar="JSON", help="changes of the archive's config, as for elmo-tasks train"
    )


def model_files(args: argparse.Namespace) -> list[str | Path]:
    """The files of the trained model that a command reads, which its outputs must not replace."""
    archive = Path(args.archive_file)
    inside = archive.rglob("*") if archive.is_dir() else ()
    return [archive, *inside, *([args.weights_file] if args.weights_file else [])]
