"""The connection to a Ray cluster."""

import importlib
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from elmo_tasks.errors import InputError, needs

_SECONDS = 10.0


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """
    The module `ray`, connected to the cluster at `address` (`auto`, `HOST:PORT`) or `RAY_ADDRESS`, else to one on this
    machine, which is started if none runs. It is disconnected at the end, which cancels what runs. A connection that
    exists already is used and kept.

    Raises `InputError` if Ray is missing, or within seconds if there is no such cluster.
    """
    with needs("'elmo-tasks[ray]'"):
        ray = importlib.import_module("ray")
    if ray.is_initialized():
        yield ray
        return
    address = address or os.environ.get("RAY_ADDRESS")
    host, _, port = (address or "").rpartition(":")
    try:
        if host:  # Ray itself waits for minutes
            socket.create_connection((host, int(port)), timeout=_SECONDS).close()
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except Exception as error:  # of many types
        hint = "`ray status` says whether it runs; --address names another"
        raise InputError(f"cannot connect to the Ray cluster at {address}: {error}", hint=hint) from error
    try:
        yield ray
    finally:
        ray.shutdown()
