"""The connection to a Ray cluster."""

import importlib
import os
import platform
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from elmo_tasks.errors import InputError, needs

CONNECT_SECONDS = 20.0


def connect(address: str | None) -> Any:
    """
    The module `ray`, connected to the cluster at `address` (`auto`, `HOST:PORT`) or `RAY_ADDRESS`, else to one on this
    machine, which is started if none runs. A connection that exists already is used.

    Raises `InputError` if Ray is missing, or within seconds if there is no such cluster.
    """
    with needs("'elmo-tasks[ray]'"):
        ray = importlib.import_module("ray")
    address, errors = address or os.environ.get("RAY_ADDRESS"), list[BaseException]()

    def initialize() -> None:
        host, _, port = (address or "").rpartition(":")
        try:
            if (
                host and "//" not in host
            ):  # a port that nobody listens on: Ray itself tries for minutes
                socket.create_connection(
                    (host, int(port)), timeout=CONNECT_SECONDS / 2
                ).close()
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except BaseException as error:  # of many types
            errors.append(error)

    if not ray.is_initialized() and address in (None, "", "local"):
        initialize()  # a cluster that it starts ends with the thread that has started it
    elif not ray.is_initialized():
        thread = threading.Thread(target=initialize, daemon=True)
        thread.start()
        thread.join(CONNECT_SECONDS)
        if thread.is_alive():
            errors.append(TimeoutError(f"no answer within {CONNECT_SECONDS:.0f} s"))
    if errors:
        hint = "`ray start --head` starts one, `ray status` says whether it runs; --address HOST:PORT names another"
        raise InputError(
            f"no Ray cluster at {address}: {first_line(errors[0])}", hint=hint
        )
    return ray


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """`connect`; a new connection is closed at the end, which cancels what runs."""
    existed = "ray" in sys.modules and sys.modules["ray"].is_initialized()
    ray = connect(address)
    try:
        yield ray
    finally:
        if not existed:
            ray.shutdown()


def nodes_of(ray: Any) -> list[dict[str, Any]]:
    """The nodes of a cluster that execute something, as Ray describes them."""
    nodes = []
    for node in ray.nodes():
        if node["Alive"] and node["Resources"].get("CPU"):
            nodes.append(node)
    return nodes


def room_of(ray: Any, cores: int) -> int:
    """How many calls that take so many cores the nodes of a cluster have room for."""
    return sum(int(node["Resources"]["CPU"]) // cores for node in nodes_of(ray))


def node_name() -> str | None:
    """The node that executes this process for a cluster; None in a process that a cluster has not started."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return None
    return f"{platform.node()} ({ray.get_runtime_context().get_node_id()[:6]})"


def first_line(error: BaseException) -> str:
    """The kind of an error and the first line of its text; of Ray's errors those of the cause."""
    cause = getattr(error, "cause", None) or error
    lines = [line for line in str(cause).strip().splitlines() if line.strip()]
    return f"{type(cause).__name__}: {lines[0] if lines else ''}"
