"""Loads what the command line names, and answers requests until a signal."""

import argparse
import json
import socket
import sys
from contextlib import suppress
from pathlib import Path
from socket import AF_INET, AF_INET6
from typing import Any

import uvicorn

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables.run_dir import MODEL
from elmo_tasks.web.app import Service
from elmo_tasks.web.models import ServedModel

ARCHIVE = "model.tar.gz"
SECONDS_TO_END = 30
"""After a signal, for what is being answered."""


def run(args: argparse.Namespace) -> None:
    """Serve until SIGTERM or Ctrl-C. Raises `InputError` if a file cannot be used."""
    try:
        listening = socket.create_server(
            (args.host, args.port), family=AF_INET6 if ":" in args.host else AF_INET
        )
    except (OSError, OverflowError) as error:
        hint = "--port 0 takes a free one"
        raise InputError(
            f"cannot listen on {args.host}, port {args.port}: {error}", hint=hint
        ) from None
    with (
        listening,
        suppress(KeyboardInterrupt),
    ):  # who connects before uvicorn accepts waits
        _serve(listening, _models(args.archives, args.allow_downloads), args)


def _serve(
    listening: socket.socket, models: dict[str, ServedModel], args: argparse.Namespace
) -> None:
    options: dict[str, Any] = {
        "http": "h11",
        "lifespan": "off",
        "ws": "none",
        "server_header": False,
    }
    options |= {
        "log_level": "error",
        "limit_concurrency": 1000,
        "timeout_graceful_shutdown": SECONDS_TO_END,
    }
    config = uvicorn.Config(
        Service(models, host=args.host), host=args.host, port=args.port, **options
    )
    host, port = listening.getsockname()[:2]
    url = f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
    sys.stdout.write(
        json.dumps({"ready": True, "url": url, "models": list(models)}) + "\n"
    )
    sys.stdout.flush()
    uvicorn.Server(config).run([listening])


def _models(archives: list[str], allow_downloads: bool) -> dict[str, ServedModel]:
    """The models of `[NAME=]FILE`, loaded. Raises `InputError` if two have the same name."""
    models: dict[str, ServedModel] = {}
    for one in archives:
        name, _, file = one.partition("=")
        if not file or "/" in name:
            name, file = _archive_name(one), one
        if name in models:
            raise InputError(
                f"expected a different name for each archive, got {name!r} twice",
                hint="write NAME=FILE",
            )
        sys.stderr.write(f"loading {name} ({file})\n")
        models[name] = ServedModel(
            Path(file) / ARCHIVE if Path(file).is_dir() else Path(file),
            allow_downloads=allow_downloads,
        )
    return models


def _archive_name(file: str) -> str:
    """The folder of a run, or the name of another file."""
    parts = [
        part for part in Path(file).absolute().parts if part not in (ARCHIVE, MODEL)
    ]
    return parts[-1].removesuffix(".tar.gz")
