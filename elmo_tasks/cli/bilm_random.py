"""`elmo-tasks bilm random`: a biLM without training, for a control experiment."""

import argparse

from elmo_tasks.cli.arguments import add_format, location
from elmo_tasks.settings import Seed, number

DESCRIPTION = (
    "Write a biLM with random weights: those that `train bilm` would start from. A task model with it shows what"
    " characters and any recurrent layers give, without language modelling."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks bilm random OUT`."""
    parser.set_defaults(func=run)
    add = parser.add_argument
    add("out", type=location, metavar="OUT", help="folder for the two files")
    options = (
        "official options.json with the architecture (default: the bundled biLM's)"
    )
    add("--options", type=location, metavar="FILE", help=options)
    seed = "seed of the random weights (default: %(default)s)"
    add("--seed", type=number(Seed), default=1, metavar="N", help=seed)
    add_format(parser)


def run(args: argparse.Namespace) -> None:
    """Write the files, and print their names."""
    from elmo_tasks.bilm.untrained import write_untrained
    from elmo_tasks.resources import embedded_bilm

    options = args.options or embedded_bilm()[0]
    for path in write_untrained(args.out, options, seed=args.seed, chosen=args.format):
        print(f"{path.stat().st_size:>12,} bytes  {path}")
