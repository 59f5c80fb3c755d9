"""
`elmo-tasks train`: a config, one seed, a check, a locked folder, a training, an
archive.
"""

import argparse
import os
from pathlib import Path

from elmo_tasks.cli.arguments import add_packages, location
from elmo_tasks.resources import SCALES

DESCRIPTION = (
    "Train the model of a config, and write DIR/model.tar.gz. It is tried on the first instances before anything"
    " is written. If the run is interrupted, --recover resumes it exactly."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks train CONFIG -s DIR`."""
    add = parser.add_argument
    add(
        "config",
        type=location,
        metavar="CONFIG",
        help="a Jsonnet file, or a name that `elmo-tasks configs` lists",
    )
    add(
        "--scale",
        choices=SCALES,
        help="scale of a config named without a path: synthetic corpus, small data, or the paper's (default: mini)",
    )
    add(
        "-s",
        "--serialization-dir",
        required=True,
        type=location,
        metavar="DIR",
        help="folder for the run",
    )
    add(
        "-o",
        "--overrides",
        default="",
        metavar="JSON",
        help='changes to the config by dotted path, such as \'{"model.elmo.at": "both"}\'',
    )
    add(
        "-r",
        "--recover",
        action="store_true",
        help="resume the run in DIR from its last checkpoint",
    )
    add_packages(parser)
    parser.set_defaults(func=train)


def train(args: argparse.Namespace) -> None:
    """Train, with a line per epoch, and print where the archive is."""
    import torch

    from elmo_tasks.training import run as runs
    from elmo_tasks.training.checks.training import is_bundled
    from elmo_tasks.training.config import find_config, read_config

    params = read_config(find_config(args.config, args.scale), args.overrides)
    if is_bundled(params.params) and "OMP_NUM_THREADS" not in os.environ:
        os.environ["OMP_NUM_THREADS"] = "1"  # of other processes, too
        torch.set_num_threads(1)  # as tables do: the scores in our docs are of one
    runs.train(
        params,
        Path(args.serialization_dir),
        recover=args.recover,
        packages=args.include_package,
        report=print,
    )
