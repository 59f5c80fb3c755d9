"""A Ray cluster: the connection, and what a process takes of a node."""

import importlib
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from elmo_tasks.errors import InputError, needs

CONNECT_SECONDS = 10.0


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """
    The module `ray`, connected to the cluster at `address` (`HOST:PORT`) or
    `RAY_ADDRESS`, else to one that runs on this machine, else to one that is started
    here and ends with the connection. The end of the connection ends what it runs.

    Raises `InputError` if Ray is missing, or within seconds if there is no such
    cluster.
    """
    with needs("'elmo-tasks[ray]'"):
        ray = importlib.import_module("ray")
    address = address or os.environ.get("RAY_ADDRESS")
    os.environ.setdefault("RAY_DATA_LOG_LEVEL", "ERROR")
    try:
        _require_listener(address or "")
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except Exception as error:  # of many types
        hint = (
            "`ray start --head` starts one; RAY_AUTH_MODE=token is for one with tokens"
        )
        problem = f"no Ray cluster at {address}: {first_line(error)}"
        raise InputError(problem, hint=hint) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _require_listener(address: str) -> None:
    """
    Raises `OSError` if nobody listens on a port, which Ray itself tries for minutes.
    """
    host, _, port = address.rpartition(":")
    if host and "//" not in host:
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()


def cores_per_process() -> int:
    """The cores that a process takes: `OMP_NUM_THREADS`, by default 1."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(limit)) if limit.isdecimal() else 1


def room_of(ray: Any, cores: int) -> int:
    """
    How many processes of `cores` cores the nodes of a cluster have room for. Raises
    `InputError` if there is none.
    """
    room = 0
    for node in ray.nodes():
        if node["Alive"]:
            room += int(node["Resources"].get("CPU", 0)) // cores
    if not room:
        problem = f"expected a node of the Ray cluster with {cores} cores, got none"
        raise InputError(problem, hint="start a node, or set OMP_NUM_THREADS")
    return room


def first_line(error: BaseException) -> str:
    """
    The kind of an error and the first line of its text; of Ray's errors those of the
    cause.
    """
    cause = getattr(error, "cause", None) or error
    text, _, _ = str(cause).strip().partition("\n")
    return f"{type(cause).__name__}: {text.rstrip()}"
