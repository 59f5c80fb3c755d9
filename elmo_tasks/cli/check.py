"""`elmo-tasks check`: the problems of a config, before training."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from elmo_tasks.cli.arguments import add_download_limit, add_packages, location
from elmo_tasks.errors import one_line, without_secrets
from elmo_tasks.resources import SCALES

if TYPE_CHECKING:
    from elmo_tasks.training.checks.problem import Problem


DESCRIPTION = (
    "Construct configs, train each for one step on its first instances, and list what is wrong: keys, types, values,"
    " names, sizes, missing files and GPUs. The exit status is 0 if all is well."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks check CONFIG...`."""
    parser.add_argument(
        "configs",
        type=location,
        metavar="CONFIG",
        nargs="+",
        help="files or names, as for elmo-tasks train",
    )
    parser.add_argument(
        "--scale", choices=SCALES, help="scale of the names, as for elmo-tasks train"
    )
    parser.add_argument(
        "-o",
        "--overrides",
        default="",
        metavar="JSON",
        help="changes to each config, as for elmo-tasks train",
    )
    parser.add_argument(
        "--show", action="store_true", help="also print each resolved config as JSON"
    )
    add_download_limit(parser)
    add_packages(parser)
    parser.set_defaults(func=check)


def check(args: argparse.Namespace) -> None:
    """Print a line per config and one per problem; exit with 1 if there is any."""
    from elmo_tasks.training.config import find_config, read_config

    files = [find_config(name, args.scale) for name in args.configs]
    found = False
    for file in files:
        try:
            problems = check_config(file, args.overrides)
        except Exception as error:
            line = one_line(error)
            if line is None and isinstance(error, ValueError):
                line = str(error)
            if line is None:
                raise
            print(f"{without_secrets(file)}: unreadable\n  {line}")
            found = True
            continue
        if problems:
            found = True
        _print_problems(file, problems)
        if args.show:
            config = read_config(file, args.overrides).as_dict(quiet=True)
            print(json.dumps(config, indent=2))
    sys.exit(int(found))


def _print_problems(file: str, problems: Sequence["Problem"]) -> None:
    if not problems:
        count = "no problems"
    elif len(problems) == 1:
        count = "1 problem"
    else:
        count = f"{len(problems)} problems"
    print(f"{without_secrets(file)}: {count}")
    for problem in problems:
        print(f"  {without_secrets(str(problem))}", flush=True)


def check_config(file: str | Path, overrides: str = "") -> list["Problem"]:
    """
    Reads a config as `elmo-tasks train` does, and returns its problems, sorted by path.
    """
    from elmo_tasks.training.checks.construct import config_problems
    from elmo_tasks.training.config import read_config

    config = read_config(file, overrides).as_dict(quiet=True)
    return config_problems(config)
