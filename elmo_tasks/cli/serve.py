"""
`elmo-tasks serve`: load archives, then answer HTTP requests until SIGTERM or Ctrl-C.
"""

import argparse
import json
import sys
from typing import Annotated

from pydantic import Field

from elmo_tasks.cli.arguments import add_loading, location
from elmo_tasks.errors import needs, shown
from elmo_tasks.settings import Integer, Number, number

Port = Annotated[Integer, Field(ge=0, le=65_535)]
Seconds = Annotated[Number, Field(gt=0, le=86_400)]
Workers = Annotated[Integer, Field(ge=1, le=256)]

DESCRIPTION = (
    "Serve a page, and JSON, with the predictions of trained models. SIGTERM and Ctrl-C"
    " end the server after it has answered its requests, for at most 20 seconds."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks serve ARCHIVE...`."""
    parser.set_defaults(func=serve)
    add = parser.add_argument
    add(
        "archives",
        type=location,
        metavar="ARCHIVE",
        nargs="+",
        help="a model.tar.gz or its folder, as ARCHIVE or NAME=ARCHIVE",
    )
    add(
        "--host",
        default="127.0.0.1",
        help="address to listen on (default: %(default)s, this machine only)",
    )
    add(
        "--port",
        type=number(Port),
        default=8000,
        metavar="N",
        help="port, or 0 for any free one (default: %(default)s)",
    )
    add(
        "--examples",
        type=location,
        metavar="FILE",
        help="show the inputs of this file as examples: JSON lines as for predict, at"
        " most 30, for models of one task",
    )
    add(
        "--allow-host",
        type=host_name,
        metavar="NAME",
        action="append",
        default=[],
        help="answer requests for this name of the server, such as elmo or"
        " *.example.com, besides localhost, IP addresses and --host; '*' for any; can be"
        " repeated",
    )
    add_loading(parser)
    add(
        "--timeout",
        type=number(Seconds),
        default=30,
        metavar="SECONDS",
        help="how long a request may wait for its turn (default: %(default)s)",
    )
    add(
        "--workers",
        type=number(Workers),
        default=1,
        metavar="N",
        help="processes, each with all models; a model in a process answers one request"
        " at a time (default: %(default)s)",
    )


def host_name(text: str) -> str:
    """The `type` of `--allow-host`."""
    name = text.removeprefix("*.")
    if text != "*" and (not name or set(name) & set("*:/ ")):
        wanted = "expected a name without port, such as elmo or *.example.com"
        raise argparse.ArgumentTypeError(f"{wanted}, got {shown(text)}")
    return text


def serve(args: argparse.Namespace) -> None:
    """Load everything, then listen. Raises `InputError` if a file is invalid."""
    with needs("'elmo-tasks[web]'"):
        from elmo_tasks.web import server

    serving = server.Serving(
        archives=server.archive_files(args.archives),
        hosts=["localhost", args.host, *args.allow_host],
        seconds=args.timeout,
        examples=args.examples,
        packages=args.include_package,
        allow_downloads=args.allow_downloads,
    )

    def ready(url: str) -> None:
        """Prints a line that a program can wait for and read."""
        line = {"ready": True, "url": url, "models": list(serving.archives)}
        print(json.dumps(line), flush=True)

    with server.listen(args.host, args.port) as listening:
        print(f"loading {', '.join(serving.archives)}", file=sys.stderr)
        server.serve(serving, listening, workers=args.workers, ready=ready)
