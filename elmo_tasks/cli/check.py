"""`elmo-tasks check`: all problems of a config, before training."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from elmo_tasks.errors import one_line, portable
from elmo_tasks.resources import SCALES

if TYPE_CHECKING:
    from elmo_tasks.training.checks.problem import Problem


DESCRIPTION = (
    "Report all problems of configs: unknown keys, invalid types, names and sizes, missing files and GPUs;"
    " and what fails in a step on the first instances."
    " Exit status 0 if there is no problem."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks check CONFIG...`."""
    parser.add_argument(
        "configs", metavar="CONFIG", nargs="+", help="as for elmo-tasks train"
    )
    parser.add_argument("--scale", choices=SCALES, help="as for elmo-tasks train")
    parser.add_argument(
        "-o", "--overrides", default="", help="as for elmo-tasks train, for each config"
    )
    parser.add_argument(
        "--show", action="store_true", help="print each resolved config as JSON, too"
    )
    parser.set_defaults(func=check)


def check(args: argparse.Namespace) -> None:
    """Print a line per config and one per problem; exit with 1 if there is any."""
    from elmo_tasks.training.config import find_config, read_config

    found = False
    for file in [find_config(name, args.scale) for name in args.configs]:
        try:
            problems = check_config(file, args.overrides)
        except Exception as error:
            line = one_line(error) or (
                f"{error}" if isinstance(error, ValueError) else None
            )
            if line is None:
                raise
            print(f"{portable(file)}: unreadable\n  {line}")
            found = True
            continue
        found |= bool(problems)
        count = len(problems) or "no"
        print(f"{portable(file)}: {count} problem{'' if count == 1 else 's'}")
        for problem in problems:
            print(f"  {portable(str(problem))}", flush=True)
        if args.show:
            print(
                json.dumps(
                    read_config(file, args.overrides).as_dict(quiet=True), indent=2
                )
            )
    sys.exit(1 if found else 0)


def check_config(file: str | Path, overrides: str = "") -> list["Problem"]:
    """
    Reads a config as `elmo-tasks train` does, and returns all problems, sorted by path. A config without problems of
    keys and files is tried on its first instances.
    """
    from elmo_tasks.training.checks.files import device_problems, file_problems
    from elmo_tasks.training.checks.libraries import library_problems
    from elmo_tasks.training.checks.sample import sample_problems
    from elmo_tasks.training.checks.schema import shape_problems
    from elmo_tasks.training.config import read_config

    config = read_config(file, overrides).as_dict(quiet=True)
    problems = [
        *shape_problems(config),
        *file_problems(config),
        *device_problems(config),
        *library_problems(config),
    ]
    return sorted(problems or sample_problems(config))
