"""`elmo-tasks check`: the problems of a config, before training."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from elmo_tasks.cli.arguments import add_packages, location
from elmo_tasks.errors import one_line
from elmo_tasks.resources import SCALES

if TYPE_CHECKING:
    from elmo_tasks.training.checks.construct import Checked

DESCRIPTION = (
    "Construct configs, train each for one step on its first instances, and say what is wrong. What would have to be"
    " fetched is not constructed, and named. The exit status is 1 if there are problems."
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
    add_packages(parser)
    parser.set_defaults(func=check)


def check(args: argparse.Namespace) -> None:
    """Print a line per config and one per problem; exit with 1 if there is any."""
    from elmo_tasks.training.config import find_config, read_config

    files = [find_config(name, args.scale) for name in args.configs]
    found = False
    for file in files:
        try:
            checked = check_config(file, args.overrides)
        except Exception as error:
            line = one_line(error)
            if line is None and isinstance(error, ValueError):
                line = str(error)
            if line is None:
                raise
            print(f"{file}: unreadable\n  {line}")
            found = True
            continue
        found = found or bool(checked.problems)
        _print_outcome(file, checked)
        if args.show:
            config = read_config(file, args.overrides).as_dict(quiet=True)
            print(json.dumps(config, indent=2))
    sys.exit(int(found))


def _print_outcome(file: str, checked: "Checked") -> None:
    """What is wrong, what was not constructed, or that all is well."""
    lines = list(checked.problems)
    for path, reason in checked.left_out.items():
        lines.append(f"not constructed: {path} {reason}")
    if len(checked.problems) == 1:
        lines.insert(0, "1 problem")
    elif checked.problems or not lines:
        lines.insert(0, f"{len(checked.problems) or 'no'} problems")
    print(f"{file}: " + "\n  ".join(lines), flush=True)


def check_config(file: str | Path, overrides: str = "") -> "Checked":
    """Reads a config as `elmo-tasks train` does, and checks it."""
    from elmo_tasks.training.checks.construct import check
    from elmo_tasks.training.config import read_config

    return check(read_config(file, overrides).as_dict(quiet=True))
