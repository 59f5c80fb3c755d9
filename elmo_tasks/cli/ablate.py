"""`elmo-tasks ablate`: reproduce a table from its data file."""

import argparse

from elmo_tasks.cli.arguments import (
    add_packages,
    add_ray,
    location,
    path,
)
from elmo_tasks.errors import ALLENNLP, needs
from elmo_tasks.resources import SCALES
from elmo_tasks.settings import Size, number

DESCRIPTION = (
    "Execute the runs of a table and write table.md and results.jsonl."
    " Repeat the command to continue: finished runs are skipped, interrupted ones resume."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks ablate TABLE.jsonnet -s DIR`."""
    add = parser.add_argument
    add(
        "table",
        type=location,
        metavar="TABLE",
        help="a name that `elmo-tasks configs` lists, or a Jsonnet file",
    )
    add(
        "--scale",
        choices=SCALES,
        default=SCALES[0],
        help="synthetic corpus, small data, or the paper's (default: mini)",
    )
    add(
        "-s",
        "--folder",
        required=True,
        type=location,
        metavar="DIR",
        help="folder for runs and results",
    )
    add(
        "--runs",
        type=path,
        metavar="DIR",
        help="folder of the runs, to share them between tables (default: DIR/runs)",
    )
    add(
        "--rows",
        nargs="+",
        default=[],
        metavar="PATTERN",
        help="execute only these rows, such as 'snli-*'",
    )
    add(
        "--seeds",
        type=number(Size),
        default=1,
        metavar="N",
        help="train each row with seeds 1 to N (default: 1)",
    )
    add(
        "--workers",
        type=number(Size),
        metavar="N",
        help="number of simultaneous runs, each on OMP_NUM_THREADS cores, by default one (default: 1; with Ray, as many"
        " as its cores allow)",
    )
    add_ray(parser, "execute the runs by Ray")
    add(
        "--no-cache",
        action="store_true",
        help="compute the layers in each run instead of caching them on disk",
    )
    add(
        "--figures",
        type=path,
        metavar="DIR",
        help="also draw the scores of the table, DIR/scores.png",
    )
    add(
        "--dry-run",
        action="store_true",
        help="only show the rows, their changes and missing files",
    )
    add_packages(parser)
    parser.set_defaults(func=ablate)


def ablate(args: argparse.Namespace) -> None:
    """
    Show the plan, or execute it and show the table. Exit with 1 if a run failed, 130 if
    interrupted.
    """
    with needs(ALLENNLP):
        from elmo_tasks.cli.running.table_runs import run_table

    run_table(args)
