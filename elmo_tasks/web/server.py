"""Loads what the command line names, and answers requests until a signal."""

import asyncio
import json
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from socket import AF_INET, AF_INET6
from typing import Any

import uvicorn

from elmo_tasks.errors import InputError
from elmo_tasks.web.app import Service
from elmo_tasks.web.connections import Connection
from elmo_tasks.web.models import ServedModel
from elmo_tasks.web.worker import Opening

ARCHIVE, MODEL = "model.tar.gz", "model"
"""An archive in its folder, and the folder of a table's run that has it: neither names a model."""

SECONDS_TO_END = 20
"""After a signal, for what is being answered."""

SECONDS_TO_READ = 4
"""After these, for clients that have not read their answer."""


def run(
    archives: Sequence[str],
    *,
    host: str,
    port: int,
    timeout: float,
    opening: Opening,
) -> None:
    """
    Serve archives, `[NAME=]FILE` each, until SIGTERM or Ctrl-C. A request has `timeout` seconds; `opening` says how the
    archives are loaded. Raises `InputError` if a file cannot be used.
    """
    files = archive_files(archives)
    try:
        listening = socket.create_server(
            (host, port), family=AF_INET6 if ":" in host else AF_INET
        )
    except (OSError, OverflowError) as error:
        hint = "--port 0 takes a free one"
        raise InputError(
            f"cannot listen on {host}, port {port}: {error}", hint=hint
        ) from None
    models = {name: ServedModel(file, opening) for name, file in files.items()}
    # who connects before uvicorn accepts waits
    with listening, suppress(KeyboardInterrupt):
        asyncio.run(_serve(listening, models, host=host, timeout=timeout))


async def _serve(
    listening: socket.socket,
    models: dict[str, ServedModel],
    *,
    host: str,
    timeout: float,
) -> None:
    try:
        sys.stderr.write(f"loading {', '.join(models)}\n")
        loaded = await asyncio.gather(*[model.load() for model in models.values()])
        described = dict(zip(models, loaded, strict=True))
        service = Service(models, described, host=host, timeout=timeout)
        server = _Server(service, timeout)
        address, port = listening.getsockname()[:2]
        shown = f"[{address}]" if ":" in address else address
        ready = {
            "ready": True,
            "url": f"http://{shown}:{port}/",
            "models": list(models),
        }
        sys.stdout.write(json.dumps(ready) + "\n")
        sys.stdout.flush()
        await server.serve([listening])
    finally:
        for model in models.values():
            model.close()


class _Server(uvicorn.Server):
    """Uvicorn, which tells the service when it ends."""

    def __init__(self, service: Service, timeout: float) -> None:
        options: dict[str, Any] = {
            "http": partial(Connection, seconds=timeout),
            "lifespan": "off",
            "ws": "none",
            "server_header": False,
            "log_level": "critical",
            "limit_concurrency": 1000,
            "timeout_graceful_shutdown": SECONDS_TO_END + SECONDS_TO_READ,
        }
        super().__init__(uvicorn.Config(service, **options))
        self._service = service

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.end_within(SECONDS_TO_END)
        await super().shutdown(sockets)


def archive_files(archives: Sequence[str]) -> dict[str, Path]:
    """The archives of `[NAME=]FILE`, by name. Raises `InputError` if two have the same name."""
    files: dict[str, Path] = {}
    for one in archives:
        name, _, file = one.partition("=")
        if not file or "/" in name:
            name, file = _archive_name(one), one
        if name in files:
            raise InputError(
                f"expected a different name for each archive, got {name!r} twice",
                hint="write NAME=FILE",
            )
        path = Path(file)
        has_archive = (path / ARCHIVE).is_file()  # as a finished run has
        files[name] = path / ARCHIVE if has_archive else path
    return files


def _archive_name(file: str) -> str:
    """The folder of a run, or the name of another file."""
    parts = [
        part for part in Path(file).absolute().parts if part not in (ARCHIVE, MODEL)
    ]
    return parts[-1].removesuffix(".tar.gz")
