"""
Loads the archives that the command line names, and answers requests until a signal ends
it.
"""

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from socket import AF_INET, AF_INET6
from typing import Any

import uvicorn
from overrides import overrides

from elmo_tasks.errors import InputError
from elmo_tasks.run_names import ARCHIVE, MODEL
from elmo_tasks.web.app import Service
from elmo_tasks.web.connections import Connection
from elmo_tasks.web.models import ServedModel
from elmo_tasks.web.worker import Opening

"""
An archive in its folder, and the folder of a table's run that has it: neither names a
model.
"""

SECONDS_TO_END = 20
"""After a signal, for what is being answered."""

SECONDS_TO_READ = 4
"""After these, for clients that have not read their answer."""


def listen(host: str, port: int) -> socket.socket:
    """
    A socket to which clients can connect at once; they wait until `serve` answers.
    Raises `InputError`.
    """
    family = AF_INET
    if ":" in host:
        family = AF_INET6
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        hint = "--port 0 takes a free one"
        raise InputError(
            f"cannot listen on {host}, port {port}: {error}", hint=hint
        ) from None


def serve(
    archives: Mapping[str, Path],
    listening: socket.socket,
    *,
    host: str,
    timeout: float,
    workers: int,
    opening: Opening,
    ready: Callable[[str], None],
) -> None:
    """
    Serve archives, by name, at a socket until SIGTERM or Ctrl-C. `host` is the name
    that the socket was given. A request has `timeout` seconds; each archive is loaded
    by so many `workers`, `opening` says how. `ready` is called with the URL when all
    are. Raises `InputError` if a file cannot be used.
    """
    models: dict[str, ServedModel] = {}
    for name, file in archives.items():
        models[name] = ServedModel(file, opening, workers=workers)
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(listening, models, host=host, timeout=timeout, ready=ready))


async def _serve(
    listening: socket.socket,
    models: dict[str, ServedModel],
    *,
    host: str,
    timeout: float,
    ready: Callable[[str], None],
) -> None:
    try:
        loaded = await asyncio.gather(*[model.load() for model in models.values()])
        described = dict(zip(models, loaded, strict=True))
        service = Service(models, described, host=host, timeout=timeout)
        server = _Server(service, timeout)
        ready(_url(listening))
        await server.serve([listening])
    finally:
        for model in models.values():
            model.close()


def _url(listening: socket.socket) -> str:
    address, port = listening.getsockname()[:2]
    if ":" in address:
        address = f"[{address}]"
    return f"http://{address}:{port}/"


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

    @overrides
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.end_within(SECONDS_TO_END)
        await super().shutdown(sockets)


def archive_files(archives: Sequence[str]) -> dict[str, Path]:
    """
    The archives of `[NAME=]FILE`, by name. Raises `InputError` if two have the same
    name.
    """
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
        if (path / ARCHIVE).is_file():  # as a finished run has
            path = path / ARCHIVE
        files[name] = path
    return files


def _archive_name(file: str) -> str:
    """The folder of a run, or the name of another file."""
    path = Path(file).absolute()
    while path.name in (ARCHIVE, MODEL):
        path = path.parent
    return path.name.removesuffix(".tar.gz") or MODEL
