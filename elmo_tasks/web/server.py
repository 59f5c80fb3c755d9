"""Loads what the command line names, and answers requests until a signal."""

import argparse
import asyncio
import logging
import re
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import torch
import uvicorn
from allennlp.common.util import SigTermReceived

from elmo_tasks.elmo.sources import BILM, open_source
from elmo_tasks.errors import InputError
from elmo_tasks.probing.layers import Source
from elmo_tasks.ranges import require_sizes
from elmo_tasks.settings import bilm_files
from elmo_tasks.web.app import HEADERS, Limits, Service
from elmo_tasks.web.layers import Layers, default_corpora
from elmo_tasks.web.models import TrainedModel
from elmo_tasks.web.worker import Worker

ARCHIVE = "model.tar.gz"
_SIZES = ("max_words", "max_bytes", "queue", "batch_size", "threads")
_CONNECTIONS = 1000


def run(args: argparse.Namespace) -> None:
    """Serve until SIGTERM or Ctrl-C. Raises `InputError` if an option, a file or the address cannot be used."""
    require_sizes(**{name: getattr(args, name) for name in _SIZES})
    if not 0 < args.timeout < float("inf"):
        raise InputError(f"--timeout: expected seconds above 0, got {args.timeout:g}")
    logging.getLogger("allennlp").setLevel(logging.WARNING)
    with _bound(args.host, args.port) as listening:
        torch.set_num_threads(args.threads)
        try:
            service = _service(args)
        except (KeyboardInterrupt, SigTermReceived):
            _say("interrupted while loading")
            raise SystemExit(130) from None
        listening.listen()
        host, port = listening.getsockname()[:2]
        _say(f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/")
        asyncio.run(_Server(service).serve([listening]))
    _say("stopped")


def _service(args: argparse.Namespace) -> Service:
    """Load all models."""
    given = args.bilm or [",".join(bilm_files(None, None))]
    if len(given) > 2:
        raise InputError(f"expected --bilm at most twice, got {len(given)}")
    names: set[str] = set()
    models, bilms = {}, {}
    for name, file in _named(args.archives, _archive_name, names):
        _say(f"loading {name} ({file})")
        models[name] = TrainedModel(Path(file) / ARCHIVE if Path(file).is_dir() else Path(file))
    for name, files in _named(given, _bilm_name, names):
        _say(f"indexing the layers of {name} ({files})")
        bilms[name] = Layers(_open(files), args.corpus or default_corpora())
    options = {"queue": args.queue, "threads": args.threads}
    workers = {name: Worker(one.answers, batch_size=args.batch_size, **options) for name, one in models.items()}
    workers |= {name: Worker(one.answers, batch_size=1, **options) for name, one in bilms.items()}
    for name, model in models.items():
        for module in model.modules:
            module.register_forward_pre_hook(workers[name].check)
    return Service(models, bilms, workers, Limits(args.max_bytes, args.max_words, args.timeout))


def _named(given: Sequence[str], name_of: Callable[[str], str], taken: set[str]) -> list[tuple[str, str]]:
    """`[NAME=]VALUE` -> unique names and values."""
    found = []
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or "/" in name:
            name, value = name_of(one), one
        name = re.sub(r"[^\w.-]", "_", name) or "model"
        unique = next(new for new in (name, *(f"{name}-{n}" for n in range(2, len(taken) + 3))) if new not in taken)
        taken.add(unique)
        found.append((unique, value))
    return found


def _archive_name(file: str) -> str:
    path = Path(file).absolute()
    return path.parent.name if path.name == ARCHIVE else path.name.removesuffix(".tar.gz")


def _bilm_name(files: str) -> str:
    return Path(files.partition(",")[0]).absolute().parent.name


def _open(files: str) -> Source:
    options, comma, weights = files.partition(",")
    if not comma:
        raise InputError(f"--bilm: expected OPTIONS,WEIGHTS, got {files!r}")
    return Source.of(*open_source(BILM, {"options_file": options, "weight_file": weights}))


def _bound(host: str, port: int) -> socket.socket:
    """A socket that has the address but does not listen yet."""
    bound = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        return bound
    except (OSError, OverflowError) as error:
        if bound is not None:
            bound.close()
        raise InputError(f"cannot listen at {host}:{port}: {error}", hint="--host and --port choose another") from None


class _Server(uvicorn.Server):
    """Ends with status 0 on SIGTERM and Ctrl-C; the second signal does not wait for answers."""

    def __init__(self, service: Service) -> None:
        options: dict[str, Any] = {"lifespan": "off", "ws": "none", "log_level": "warning", "server_header": False}
        headers = list(HEADERS.items())
        super().__init__(uvicorn.Config(service, headers=headers, limit_concurrency=_CONNECTIONS, **options))
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Called by uvicorn for each signal."""
        self.force_exit, self.should_exit = self.should_exit, True
        asyncio.get_event_loop().call_soon_threadsafe(self._service.stop)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
