"""
Loads the archives that the command line names, and answers requests until a signal ends
it.
"""

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from socket import AF_INET, AF_INET6
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from elmo_tasks.errors import InputError
from elmo_tasks.host import register_classes
from elmo_tasks.system.processes import exit_with_starter, return_freed_memory
from elmo_tasks.system.run_names import ARCHIVE, MODEL

SECONDS_TO_END = 20
"""After a signal, for what is being answered."""

FEW_KERNELS = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "8", "LRU_CACHE_CAPACITY": "8"}
"""
Variables of oneDNN and PyTorch, which by default keep the code for a thousand shapes.
Each length of a text is another one for an LSTM, and takes a megabyte.
"""


@dataclass(frozen=True)
class Serving:
    """What a process of the server serves."""

    archives: Mapping[str, str]
    """Files by the name of the model."""

    hosts: Sequence[str]
    """The names of the server that a request may have."""

    seconds: float
    """For a request to wait for its turn."""

    examples: str | None = None
    """A file of inputs that the page shows."""

    packages: Sequence[str] = ()
    allow_downloads: bool = False


def make(serving: Serving) -> FastAPI:
    """
    The application, with all models loaded. Raises `InputError` if a file cannot be
    used.
    """
    os.environ.update(FEW_KERNELS)
    return_freed_memory()
    exit_with_starter()
    register_classes(serving.packages)
    from elmo_tasks.web.app import make_app
    from elmo_tasks.web.loaded import LoadedModel

    models = {}
    for name, file in serving.archives.items():
        models[name] = LoadedModel(Path(file), allow_downloads=serving.allow_downloads)
    return make_app(
        models,
        hosts=serving.hosts,
        seconds=serving.seconds,
        examples=serving.examples,
    )


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
    serving: Serving,
    listening: socket.socket,
    *,
    workers: int,
    ready: Callable[[str], None],
) -> None:
    """
    Serve at a socket until SIGTERM or Ctrl-C, in this process, or in `workers` of
    uvicorn. `ready` is called with the URL when all archives are loaded. Raises
    `InputError` if a file cannot be used.
    """
    app: Any = make(serving)
    if workers > 1:  # this process has only checked the files
        app = partial(make, serving)
    config = uvicorn.Config(
        app,
        factory=workers > 1,
        workers=workers,
        lifespan="off",
        ws="none",
        server_header=False,
        log_level="critical",
        limit_concurrency=1000,
        timeout_graceful_shutdown=SECONDS_TO_END,
    )
    run: Callable[[], Any] = partial(uvicorn.Server(config).run, [listening])
    if workers > 1:
        run = Multiprocess(config, [listening]).run  # which now takes signals
    address, port = listening.getsockname()[:2]
    if ":" in address:
        address = f"[{address}]"
    with suppress(KeyboardInterrupt):
        ready(f"http://{address}:{port}/")
        run()


def archive_files(archives: Sequence[str]) -> dict[str, str]:
    """
    The archives of `[NAME=]FILE`, by name. Raises `InputError` if two have the same
    name.
    """
    files: dict[str, str] = {}
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
        files[name] = str(path)
    return files


def _archive_name(file: str) -> str:
    """The folder of a run, or the name of another file."""
    path = Path(file).absolute()
    while path.name in (ARCHIVE, MODEL):
        path = path.parent
    return path.name.removesuffix(".tar.gz") or MODEL
