"""Loads what the command line names, and answers requests until a signal."""

import argparse
import asyncio
import logging
import re
import socket
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import chain, count
from pathlib import Path
from types import FrameType
from typing import Any, cast

import torch
import uvicorn
from allennlp.common.util import SigTermReceived
from uvicorn.protocols.http.h11_impl import H11Protocol

from elmo_tasks.ablation.run_dir import MODEL
from elmo_tasks.elmo.source_types import BILM
from elmo_tasks.elmo.sources import open_source
from elmo_tasks.errors import InputError
from elmo_tasks.probing.layers import Source
from elmo_tasks.ranges import require_sizes
from elmo_tasks.settings import bilm_files
from elmo_tasks.web.app import HEADERS, Service
from elmo_tasks.web.layers import Layers, default_corpora
from elmo_tasks.web.models import TrainedModel
from elmo_tasks.web.worker import Worker

ARCHIVE = "model.tar.gz"


def run(args: argparse.Namespace) -> None:
    """Serve until SIGTERM or Ctrl-C. Raises `InputError` if an option, a file or the address cannot be used."""
    sizes = ("max_words", "max_bytes", "queue", "batch_size", "threads")
    require_sizes(**{name: getattr(args, name) for name in sizes})
    if not 0 < args.timeout < float("inf"):
        raise InputError(f"--timeout: expected seconds above 0, got {args.timeout:g}")
    logging.getLogger("allennlp").setLevel(logging.WARNING)
    with _bound(args.host, args.port) as listening:
        torch.set_num_threads(args.threads)
        try:
            service = _service(args)
        except (KeyboardInterrupt, SigTermReceived):
            sys.stderr.write("interrupted while loading\n")
            raise SystemExit(130) from None
        try:
            listening.listen()
        except OSError as error:  # another process began to listen there
            raise _unusable(args.host, args.port, error) from None
        host, port = listening.getsockname()[:2]
        sys.stderr.write(f"http://[{host}]:{port}/\n" if ":" in host else f"http://{host}:{port}/\n")
        asyncio.run(_Server(service, args.timeout).serve([listening]))
    sys.stderr.write("stopped\n")


def _service(args: argparse.Namespace) -> Service:
    """Load all models."""
    given = args.bilm or [",".join(bilm_files())]
    if len(given) > 2:
        raise InputError(f"expected --bilm at most twice, got {len(given)}")
    options = {"queue": args.queue, "threads": args.threads}
    models, bilms, workers = {}, {}, dict[str, Worker]()
    for name, file in _named(args.archives, _archive_name, workers):
        sys.stderr.write(f"loading {name} ({file})\n")
        models[name] = model = TrainedModel(Path(file) / ARCHIVE if Path(file).is_dir() else Path(file))
        workers[name] = Worker(model.answers, batch_size=args.batch_size, **options)
        for module in model.modules:
            module.register_forward_pre_hook(workers[name].check)
    for name, files in _named(given, lambda files: Path(files.partition(",")[0]).absolute().parent.name, workers):
        sys.stderr.write(f"indexing the layers of {name} ({files})\n")
        bilms[name] = Layers(_open(files), args.corpus or default_corpora())
        workers[name] = Worker(bilms[name].answers, batch_size=1, **options)
    limits = {"max_bytes": args.max_bytes, "max_words": args.max_words, "timeout": args.timeout}
    return Service(models, bilms, workers, **limits)


def _named(given: Sequence[str], name_of: Callable[[str], str], taken: Container[str]) -> Iterator[tuple[str, str]]:
    """`[NAME=]VALUE` -> a name that is not taken yet, and the value."""
    for one in given:
        name, _, value = one.partition("=")
        if not value or "/" in name:
            name, value = name_of(one), one
        name = re.sub(r"[^\w.-]", "_", name) or "model"
        yield next(new for new in chain([name], (f"{name}-{n}" for n in count(2))) if new not in taken), value


def _archive_name(file: str) -> str:
    path = Path(file).absolute()
    folder = path.parent if path.name == ARCHIVE else path
    return (folder.parent if folder.name == MODEL else folder).name.removesuffix(".tar.gz")


def _open(files: str) -> Source:
    options, _, weights = files.partition(",")
    if not weights:
        raise InputError(f"--bilm: expected OPTIONS,WEIGHTS, got {files!r}")
    return Source.of(*open_source(BILM, {"options_file": options, "weight_file": weights}))


def _bound(host: str, port: int) -> socket.socket:
    """A socket that has the address but does not listen yet."""
    bound = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((address[0], port, *address[2:]))
        return bound
    except (OSError, OverflowError) as error:
        if bound is not None:
            bound.close()
        raise _unusable(host, port, error) from None


def _unusable(host: str, port: int, error: Exception) -> InputError:
    return InputError(f"cannot listen at {host}:{port}: {error}", hint="--host and --port choose another")


class _Protocol(H11Protocol):
    """Closes a connection that does not send the head of a request within the seconds of keep-alive."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def data_received(self, data: bytes) -> None:
        """As in uvicorn, but only a complete head ends the time."""
        self.conn.receive_data(data)
        self.handle_events()


class _Server(uvicorn.Server):
    """Ends with status 0 on SIGTERM and Ctrl-C; the second signal does not wait for answers."""

    def __init__(self, service: Service, timeout: float) -> None:
        options: dict[str, Any] = {"lifespan": "off", "ws": "none", "http": _Protocol, "server_header": False}
        options |= {"log_level": "warning", "timeout_graceful_shutdown": int(timeout) + 1, "limit_concurrency": 1000}
        super().__init__(uvicorn.Config(service, headers=list(HEADERS.items()), **options))
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Called by uvicorn for each signal."""
        self.force_exit, self.should_exit = self.should_exit, True
        asyncio.get_event_loop().call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        self._service.stop()
        for connection in tuple(self.server_state.connections) if self.force_exit else ():
            cast(H11Protocol, connection).transport.abort()  # else a client that reads nothing delays the end
