"""
Loads the archives that the command line names, and answers requests until a signal ends
it.
"""

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from socket import AF_INET, AF_INET6
from typing import Any

import uvicorn

from elmo_tasks.errors import InputError
from elmo_tasks.system.run_names import ARCHIVE, MODEL
from elmo_tasks.web.app import make_app
from elmo_tasks.web.models import ServedModel
from elmo_tasks.web.own_examples import OwnExamples, read_examples
from elmo_tasks.web.worker import Opening

SECONDS_TO_END = 20
"""After a signal, for what is being answered."""


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
    examples: str | None,
    ready: Callable[[str], None],
) -> None:
    """
    Serve archives, by name, at a socket until SIGTERM or Ctrl-C. `host` is the name
    that the socket was given. A request has `timeout` seconds; each archive is loaded
    by so many `workers`, `opening` says how. `examples` is a file of inputs that the
    page shows in place of the built-in ones. `ready` is called with the URL when all
    archives are loaded. Raises `InputError` if a file cannot be used.
    """
    own = None
    if examples is not None:
        own = read_examples(examples)
    models: dict[str, ServedModel] = {}
    for name, file in archives.items():
        models[name] = ServedModel(file, opening, workers=workers)
    with suppress(KeyboardInterrupt):
        asyncio.run(
            _serve(listening, models, host=host, timeout=timeout, own=own, ready=ready)
        )


async def _serve(
    listening: socket.socket,
    models: dict[str, ServedModel],
    *,
    host: str,
    timeout: float,
    own: OwnExamples | None,
    ready: Callable[[str], None],
) -> None:
    try:
        loaded = await asyncio.gather(*[model.load() for model in models.values()])
        described = dict(zip(models, loaded, strict=True))
        tabs: Mapping[str, Mapping[str, Any]] = {}
        if own is not None:
            tabs = own.of(loaded)
        app = make_app(models, described, host=host, timeout=timeout, own=tabs)
        config = uvicorn.Config(
            app,
            lifespan="off",
            ws="none",
            server_header=False,
            log_level="critical",
            limit_concurrency=1000,
            timeout_graceful_shutdown=SECONDS_TO_END,
        )
        ready(_url(listening))
        await uvicorn.Server(config).serve([listening])
    finally:
        for model in models.values():
            model.close()


def _url(listening: socket.socket) -> str:
    address, port = listening.getsockname()[:2]
    if ":" in address:
        address = f"[{address}]"
    return f"http://{address}:{port}/"


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
        if "{" in name or "}" in name:
            problem = f"expected a name without braces for the model, got {name!r}"
            raise InputError(problem, hint="write NAME=FILE")
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
