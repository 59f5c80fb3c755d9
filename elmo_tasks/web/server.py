"""Loads what the command line names, and answers requests until a signal."""

import argparse
import asyncio
import json
import math
import os
import re
import socket
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from ipaddress import ip_address
from itertools import chain, count
from pathlib import Path
from types import FrameType
from typing import Any

import torch
import uvicorn

from elmo_tasks.elmo.source_types import SourceSettings
from elmo_tasks.elmo.sources import open_source
from elmo_tasks.errors import InputError, require_sizes, shown
from elmo_tasks.experiments.probes.layers import FrozenEncoder
from elmo_tasks.experiments.tables.run_dir import MODEL
from elmo_tasks.resources import embedded_bilm
from elmo_tasks.web.app import Service
from elmo_tasks.web.layers import LayerSearch, default_corpora
from elmo_tasks.web.models import ServedModel
from elmo_tasks.web.worker import Worker

ARCHIVE = "model.tar.gz"


def run(args: argparse.Namespace) -> None:
    """Serve until SIGTERM or Ctrl-C. Raises `InputError` if an option, a file or the address cannot be used."""
    sizes = ("max_words", "max_bytes", "queue", "batch_size", "threads")
    require_sizes(**{name: getattr(args, name) for name in sizes})
    if args.threads > (most := max(16, 2 * (os.cpu_count() or 1))):
        raise InputError(f"--threads: expected at most {most} on this machine, got {args.threads}")
    if not (0 < args.timeout <= 86_400 and 0 <= args.drain <= 86_400):
        expected = "--timeout: expected seconds above 0, --drain: at least 0, both at most 86,400"
        raise InputError(f"{expected}, got {args.timeout:g} and {args.drain:g}")
    if not 0 <= args.port <= 65_535:
        raise InputError(f"--port: expected 0 to 65,535, got {args.port}")
    with _listening(args.host, args.port) as listening:
        host, port = listening.getsockname()[:2]
        if not ip_address(host).is_loopback:
            sys.stderr.write(f"warning: other machines can reach {host}, without authentication or TLS\n")
        torch.set_num_threads(args.threads)
        service = _service(args)
        url = f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
        sys.stdout.write(json.dumps({"ready": True, "url": url, "models": list(service.workers)}) + "\n")
        sys.stdout.flush()
        asyncio.run(_Server(service, args.timeout, args.drain).serve([listening]))
    sys.stderr.write("stopped\n")
    if any(worker.running for worker in service.workers.values()):
        os._exit(0)  # nobody waits for the result, and Python would


def _service(args: argparse.Namespace) -> Service:
    """Load all models."""
    given = args.bilm or [",".join(map(str, embedded_bilm()))]
    if len(given) > 2:
        raise InputError(f"expected --bilm at most twice, got {len(given)}")
    options = {"queue": args.queue, "threads": args.threads}
    models, bilms, workers = {}, {}, dict[str, Worker]()
    for name, file in _named(args.archives, _archive_name, workers):
        sys.stderr.write(f"loading {name} ({file})\n")
        models[name] = model = ServedModel(Path(file) / ARCHIVE if Path(file).is_dir() else Path(file))
        workers[name] = Worker(model.answers, batch_size=args.batch_size, **options)
        for module in model.modules:
            module.register_forward_pre_hook(workers[name].check)
    for name, files in _named(given, lambda files: Path(files.partition(",")[0]).absolute().parent.name, workers):
        sys.stderr.write(f"indexing the layers of {name} ({files})\n")
        options_file, _, weight_file = files.rpartition(",")
        settings = SourceSettings(options_file=options_file or None, weight_file=weight_file)
        bilms[name] = LayerSearch(FrozenEncoder.of(*open_source(settings)), args.corpus or default_corpora())
        workers[name] = Worker(bilms[name].answers, batch_size=1, **options)
    limits = {"max_bytes": args.max_bytes, "max_words": args.max_words, "timeout": args.timeout}
    hosts = frozenset(name.lower() for name in (args.host, *args.allowed_host))
    return Service(models, bilms, workers, hosts=hosts, access_log=args.access_log, **limits)


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


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens; who connects while models are loaded waits."""
    try:
        family = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0][0]
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server((host, port), family=family, dualstack_ipv6=both)
    except (OSError, UnicodeError) as error:
        hint = "--host and --port choose another"
        raise InputError(f"cannot listen at {shown(host)}, port {port}: {error}", hint=hint) from None


class _Server(uvicorn.Server):
    """
    Ends with status 0 on SIGTERM and Ctrl-C: what waits is answered for `drain` seconds, what runs for `timeout` more.
    The second signal ends the process.
    """

    def __init__(self, service: Service, timeout: float, drain: float) -> None:
        options: dict[str, Any] = {"http": "h11", "lifespan": "off", "ws": "none", "server_header": False}
        options |= {"log_level": "error", "timeout_graceful_shutdown": math.ceil(drain + timeout) + 1}
        super().__init__(uvicorn.Config(service, limit_concurrency=1000, **options))
        self._service, self._drain = service, drain

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Called by uvicorn for each signal."""
        if self.should_exit:
            os._exit(0)
        self.should_exit = True
        loop = asyncio.get_event_loop()
        loop.call_soon_threadsafe(loop.call_later, self._drain, self._service.stop)
