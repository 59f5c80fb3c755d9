"""
The process of a model: it loads an archive, then answers one input after the other.
"""

import json
import logging
import os
import resource
import signal
import socket
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from elmo_tasks.errors import causes, is_out_of_memory, one_line
from elmo_tasks.host import register_classes
from elmo_tasks.system.processes import (
    data_bytes,
    exit_with_starter,
    return_freed_memory,
)

MAX_GROWTH = 250_000_000
"""Bytes of memory beyond what the loaded model takes; Linux alone enforces it."""

KEPT_GROWTH = 50_000_000
"""
Bytes that the process may have kept after an answer; then it is replaced. Caches of
words are what grows.
"""

FEW_KERNELS = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "8", "LRU_CACHE_CAPACITY": "8"}
"""
Variables of oneDNN and PyTorch, which by default keep the code for a thousand shapes.
Each length of a text is another one for an LSTM, and takes 2 MB, and 20 MB of
addresses.
"""

INPUT = struct.Struct("!I")
"""Before an input: its length."""

ANSWER = struct.Struct("!H?I")
"""
Before an answer: its HTTP status, whether the process has to be replaced, and its
length.
"""


@dataclass(frozen=True)
class Opening:
    """
    How archives are loaded: packages that register more classes, and the options for
    downloads.
    """

    packages: Sequence[str] = ()
    allow_downloads: bool = False
    download_limit: float | None = None  # in 10^9 bytes


def work(archive: Path, opening: Opening, channel: socket.socket) -> None:
    """
    Sends what the page shows of the archive, or why it cannot be loaded. Then reads
    inputs, in JSON, from the channel and writes answers to it, until the channel is
    closed. Signals are left to the server, which ends this process.
    """
    exit_with_starter()
    return_freed_memory()
    os.environ.update(FEW_KERNELS)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # the server's has one line
    logging.basicConfig(
        format="%(levelname)s: %(message)s",
        level=os.environ.get("ALLENNLP_LOG_LEVEL", "WARNING"),
    )
    with channel, channel.makefile("rwb") as opened:
        stream = cast(BinaryIO, opened)
        try:
            model = _load(archive, opening)
        except Exception as error:
            status, body = _failure(error)
            _send(stream, status, body)
            return
        _send(stream, 200, json.dumps(model.describe()).encode())
        allowed = _limit_memory()
        for data in _inputs(stream):
            try:
                status = 200
                body = model.answer(data)
            except Exception as error:
                status, body = _failure(error)
            _send(stream, status, body, replace=data_bytes() > allowed)


def _inputs(stream: BinaryIO) -> Iterator[Any]:
    """What is read from the channel until it is closed."""
    head = stream.read(INPUT.size)
    while head:
        (length,) = INPUT.unpack(head)
        yield json.loads(stream.read(length))
        head = stream.read(INPUT.size)


def _load(archive: Path, opening: Opening) -> Any:
    """
    A `LoadedModel`. Raises `InputError` if the archive cannot be used, or a package is
    missing.
    """
    register_classes(opening.packages)
    from elmo_tasks.formats.fetching.fetch import set_download_limit
    from elmo_tasks.web.loaded import LoadedModel

    set_download_limit(opening.download_limit)
    return LoadedModel(archive, allow_downloads=opening.allow_downloads)


def _limit_memory() -> float:
    """
    Limits the memory of this process; returns how much it may keep after an answer.
    """
    taken = data_bytes()
    if not taken:
        return float("inf")
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = taken + MAX_GROWTH
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    return taken + KEPT_GROWTH


def _failure(error: Exception) -> tuple[int, bytes]:
    """The status and the body for an error."""
    status = 422
    problem = one_line(error)
    if _lacks_memory(error):
        megabytes = MAX_GROWTH // 1_000_000
        problem = f"the input needs more than {megabytes} MB of memory"
    elif isinstance(error, RecursionError):
        problem = "the input is nested too deeply"
    elif problem is None:
        logging.getLogger(__name__).error("internal error", exc_info=error)
        status = 500
        problem = "internal error"
    return status, json.dumps({"error": problem}).encode()


def _lacks_memory(error: BaseException) -> bool:
    """Whether an error comes of missing memory; oneDNN says it in its own way."""
    for cause in causes(error):
        if is_out_of_memory(cause) or "could not create a primitive" in str(cause):
            return True
    return False


def _send(stream: BinaryIO, status: int, body: bytes, *, replace: bool = False) -> None:
    stream.write(ANSWER.pack(status, replace, len(body)) + body)
    stream.flush()
