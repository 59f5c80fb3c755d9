"""Subcommands with actions, such as `allennlp bilm export`, and the option `--cuda-device`."""

import argparse
from abc import abstractmethod

import torch
from allennlp.commands.subcommand import Subcommand

from elmo_tasks.errors import InputError

_CPU = -1


def add_device(parser: argparse.ArgumentParser) -> None:
    """Adds `--cuda-device`."""
    parser.add_argument("--cuda-device", type=int, default=_CPU, metavar="N", help="GPU; -1 is the CPU (default)")


def device_of(args: argparse.Namespace) -> torch.device:
    """The device of `--cuda-device`. Raises `InputError` if there is no such GPU."""
    gpus, number = torch.cuda.device_count(), args.cuda_device
    if not _CPU <= number < gpus:
        raise InputError(f"--cuda-device {number}: there are {gpus} GPUs, counted from 0; {_CPU} is the CPU")
    return torch.device("cpu" if number == _CPU else f"cuda:{number}")


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
