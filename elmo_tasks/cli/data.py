"""
`elmo-tasks data`: which files of the paper's corpora are below the data root, and where
the others come from.
"""

import argparse
import sys

from elmo_tasks.errors import InputError
from elmo_tasks.formats.corpora import CORPORA, DataFile, located_name
from elmo_tasks.resources import DATA_VARIABLE, data_root
from elmo_tasks.tasks import TASKS


def _in_order() -> dict[str, tuple[DataFile, ...]]:
    """The corpora of the tasks, in their order, then the others."""
    ordered = {name: CORPORA[name] for name in TASKS if name in CORPORA}
    return ordered | CORPORA


FILES = _in_order()
"""The files of each task, then the others."""


DESCRIPTION = (
    f"List the files that scale `paper` reads in {DATA_VARIABLE}, and where to get the missing ones. The exit status"
    " is 0 if nothing is missing."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks data [TASK...]`."""
    parser.add_argument(
        "tasks",
        metavar="TASK",
        nargs="*",
        help=f"list only the files of these: {', '.join(FILES)} (default: all)",
    )
    parser.set_defaults(func=report)


def report(args: argparse.Namespace) -> None:
    """
    Prints a line per file; exits with 1 if any is missing. Raises `InputError` for an
    unknown task or no root.
    """
    root = data_root()
    if root is None:
        raise InputError("no data root", hint=f"set {DATA_VARIABLE}")
    if not root.is_dir():
        raise InputError("expected a folder, the data root", file=root)
    for task in args.tasks:
        if task not in FILES:
            raise InputError(f"expected one of {', '.join(FILES)}, got {task!r}")
    is_missing = False
    print(f"data root: {root}")
    for task in args.tasks or FILES:
        print(task)
        for file in FILES[task]:
            found = located_name(root, file)
            if found is None:
                is_missing = True
                print(f"  missing  {file.name}  from {file.source}")
            else:
                print(f"  ok       {found}")
    sys.exit(int(is_missing))
