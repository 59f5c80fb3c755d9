"""
`elmo-tasks ablate-run`: execute one run of a table. `elmo-tasks ablate` calls this
command for each run.
"""

import argparse

from elmo_tasks.cli.arguments import add_packages, location
from elmo_tasks.errors import ALLENNLP, needs
from elmo_tasks.settings import Size, number

DESCRIPTION = (
    "Execute one run. `elmo-tasks ablate` calls this command for each run of a table."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks ablate-run FOLDER`."""
    parser.add_argument(
        "folder", type=location, metavar="FOLDER", help="the folder of a run"
    )
    parser.add_argument(
        "--parent",
        type=number(Size),
        metavar="PID",
        help="exit when the process with this number does",
    )
    add_packages(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> None:
    """Execute a run."""
    with needs(ALLENNLP):
        from elmo_tasks.experiments.tables.execute import execute

    execute(args.folder, parent=args.parent, report=print)
