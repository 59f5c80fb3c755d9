"""Loads what the command line names, and answers requests until a signal."""

import argparse
import asyncio
import json
import math
import os
import re
import socket
import sys
from collections.abc import Container, Iterator, Sequence
from ipaddress import ip_address
from itertools import chain, count
from pathlib import Path
from types import FrameType
from typing import Any

import torch
import uvicorn

from elmo_tasks.errors import InputError, require_sizes, shown
from elmo_tasks.experiments.tables.run_dir import MODEL
from elmo_tasks.web.app import Service
from elmo_tasks.web.models import ServedModel

ARCHIVE = "model.tar.gz"


def run(args: argparse.Namespace) -> None:
    """Serve until SIGTERM or Ctrl-C. Raises `InputError` if an option, a file or the address cannot be used."""
    sizes = ("max_words", "max_bytes", "queue", "batch_size", "threads")
    require_sizes(**{name: getattr(args, name) for name in sizes})
    if args.threads > (most := max(16, 2 * (os.cpu_count() or 1))):
        raise InputError(f"--threads: expected at most {most} on this machine, got {args.threads}")
    if not 0 < args.timeout <= 86_400:
        raise InputError(f"--timeout: expected seconds above 0, at most 86,400, got {args.timeout:g}")
    with _listening(args.host, args.port) as listening:
        host, port = listening.getsockname()[:2]
        if not ip_address(host).is_loopback:
            sys.stderr.write(f"warning: other machines can reach {host}, without authentication or TLS\n")
        torch.set_num_threads(args.threads)
        models, hosts = _models(args), frozenset(name.lower() for name in (args.host, *args.allowed_host))
        limits = {"max_bytes": args.max_bytes, "max_words": args.max_words, "timeout": args.timeout}
        service = Service(models, hosts=hosts, access_log=args.access_log, **limits)
        url = f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
        sys.stdout.write(json.dumps({"ready": True, "url": url, "models": list(models)}) + "\n")
        sys.stdout.flush()
        options: dict[str, Any] = {"http": "h11", "lifespan": "off", "ws": "none", "server_header": False}
        options |= {"log_level": "error", "timeout_graceful_shutdown": math.ceil(args.timeout) + 1}
        asyncio.run(_Server(uvicorn.Config(service, limit_concurrency=1000, **options)).serve([listening]))
    sys.stderr.write("stopped\n")
    if any(model.worker.running for model in models.values()):
        os._exit(0)  # nobody waits for the result, and Python would


def _models(args: argparse.Namespace) -> dict[str, ServedModel]:
    """All models, loaded."""
    models: dict[str, ServedModel] = {}
    for name, file in _named(args.archives, models):
        sys.stderr.write(f"loading {name} ({file})\n")
        archive = Path(file) / ARCHIVE if Path(file).is_dir() else Path(file)
        models[name] = ServedModel(archive, queue=args.queue, batch_size=args.batch_size, threads=args.threads)
    return models


def _named(archives: Sequence[str], taken: Container[str]) -> Iterator[tuple[str, str]]:
    """`[NAME=]FILE` -> a name that is not taken yet, and the file."""
    for one in archives:
        name, _, value = one.partition("=")
        if not value or "/" in name:
            name, value = _archive_name(one), one
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
    except (OSError, OverflowError, UnicodeError) as error:
        hint = "--host and --port choose another"
        raise InputError(f"cannot listen at {shown(host)}, port {port}: {error}", hint=hint) from None


class _Server(uvicorn.Server):
    """Ends with status 0 on SIGTERM and Ctrl-C, when all requests are answered; at once at the second signal."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Called by uvicorn for each signal."""
        if self.should_exit:
            os._exit(0)
        self.should_exit = True
