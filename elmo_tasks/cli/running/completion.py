"""The script of `--print-completion`, with which a shell completes a command line."""

import argparse
from collections.abc import Iterable

from elmo_tasks.cli.arguments import location, path, with_arguments
from elmo_tasks.errors import needs


def print_completion(
    shell: str,
    parser: argparse.ArgumentParser,
    commands: Iterable[argparse.ArgumentParser],
) -> None:
    """
    Prints the script for `bash` or `zsh`. Arguments that are paths complete to names of
    files. Raises `InputError` if shtab is not installed.
    """
    with needs("shtab"):
        import shtab
    for command in commands:
        for one in with_arguments(command):
            for argument in one._actions:
                if argument.type in (location, path):
                    argument.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(parser, shell=shell))
