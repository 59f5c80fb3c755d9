"""`elmo-tasks serve`: load archives, then answer HTTP requests until SIGTERM or Ctrl-C."""

import argparse
from typing import Annotated

from elmo_tasks.cli.arguments import add_allow_downloads
from elmo_tasks.errors import needs
from elmo_tasks.settings import Range, number

Port = Annotated[int, Range(at_least=0, at_most=65_535)]

DESCRIPTION = (
    "Serve a page, and JSON, with predictions of trained archives (docs/PAGE.md). SIGTERM"
    " and Ctrl-C end it when all requests are answered."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks serve ARCHIVE...`."""
    parser.set_defaults(func=serve)
    add = parser.add_argument
    add(
        "archives",
        metavar="ARCHIVE",
        nargs="+",
        help="[NAME=]model.tar.gz, or its folder",
    )
    add("--host", default="127.0.0.1", help="address (%(default)s: this machine only)")
    add(
        "--port",
        type=number(Port),
        default=8000,
        metavar="N",
        help="0 for any free one (%(default)s)",
    )
    add_allow_downloads(parser)


def serve(args: argparse.Namespace) -> None:
    """Load everything, then listen. Raises `InputError` if a file is invalid."""
    with needs("'elmo-tasks[web]'"):
        from elmo_tasks.web.server import run
    run(args)
