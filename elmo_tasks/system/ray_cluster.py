"""A Ray cluster: the connection, and calls of functions on its nodes."""

import importlib
import os
import platform
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from functools import cache
from typing import Any

from elmo_tasks.errors import InputError, needs
from elmo_tasks.system.workers import WorkerLost

CONNECT_SECONDS = 10.0

MAX_RETRIES = 5
"""How often a call may lose its node or process."""


class RayExecutor(ThreadPoolExecutor):
    """
    Calls functions of modules on the nodes of a cluster, `slots` at a time; `ray` is
    from `connected`. A call takes `cores` and `gpus` of a node. One that loses its node
    or process is repeated on another, at most `MAX_RETRIES` times, and then has the
    error `WorkerLost`. `shutdown`, which the end of a `with` calls, ends all calls.
    """

    def __init__(self, ray: Any, slots: int, *, cores: int = 1, gpus: int = 0) -> None:
        super().__init__(slots)  # a thread waits for each call
        self.ray = ray
        self.slots = slots
        self.cores = cores
        self._closed: Future[None] = Future()
        memories = [
            int(node["Resources"].get("memory", 0)) for node in nodes_of(self.ray)
        ]
        self._largest_memory = max(memories, default=0)
        # With `max_calls` at 0, a process of a node keeps what it has loaded for the
        # next call, also one with a GPU.
        options = {"num_cpus": cores, "num_gpus": gpus, "max_calls": 0}
        self._remote = cache(ray.remote(max_retries=MAX_RETRIES, **options))

    def submit(  # type: ignore[override]  # takes no keywords of the function
        self, function: Callable[..., Any], /, *arguments: Any
    ) -> Future[Any]:
        return self.submit_named("", 0, function, *arguments)

    def submit_named(
        self, name: str, memory: int, function: Callable[..., Any], *arguments: Any
    ) -> Future[Any]:
        """
        As `submit`, on a node with `memory` bytes; the tools of Ray show the name.
        """
        needs = {"name": name, "memory": min(memory, self._largest_memory)}
        return super().submit(self._call, function, arguments, needs)

    def _call(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        needs: dict[str, Any],
    ) -> Any:
        """Have a node call a function, and wait for its result."""
        reference = self._remote(function).options(**needs).remote(*arguments)
        answer = reference.future()
        wait([answer, self._closed], return_when=FIRST_COMPLETED)
        if not answer.done():
            self.ray.cancel(reference, force=True)
            raise CancelledError
        try:
            return answer.result()
        except self.ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, Exception):  # the function's own, as on this machine
                raise cause from None
            problem = f"a worker on Ray failed: {first_line(error)}"
            raise WorkerLost(problem, hint="the same command resumes") from error

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        if not self._closed.done():
            self._closed.set_result(None)
        super().shutdown(wait, cancel_futures=True)


def connect(address: str | None) -> Any:
    """
    The module `ray`, connected to the cluster at `address` (`auto`, `HOST:PORT`) or
    `RAY_ADDRESS`, else to one on this machine, which is started if none runs. A
    connection that exists already is used.

    Raises `InputError` if Ray is missing, or within seconds if there is no such
    cluster.
    """
    with needs("'ray[data]>=2.60,<2.64'"):
        ray = importlib.import_module("ray")
    if ray.is_initialized():
        return ray
    address = address or os.environ.get("RAY_ADDRESS")
    try:
        _require_listener(address or "")
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except Exception as error:  # of many types
        hint = (
            "`ray start --head` starts one, `ray status` says whether it runs;"
            " --address HOST:PORT names another"
        )
        problem = f"no Ray cluster at {address}: {first_line(error)}"
        raise InputError(problem, hint=hint) from None
    return ray


def _require_listener(address: str) -> None:
    """
    Raises `OSError` if nobody listens on a port, which Ray itself tries for minutes.
    """
    host, _, port = address.rpartition(":")
    if host and "//" not in host:
        listener = (host, int(port))
        socket.create_connection(listener, timeout=CONNECT_SECONDS).close()


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """`connect`; a new connection is closed at the end, which cancels what runs."""
    existed = _loaded_and_connected() is not None
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
    """
    How many calls that take `cores` cores each the nodes of a cluster have room for.
    """
    return sum(int(node["Resources"]["CPU"]) // cores for node in nodes_of(ray))


def node_name() -> str | None:
    """
    The node that executes this process for a cluster; None in a process that a cluster
    has not started.
    """
    ray = _loaded_and_connected()
    if ray is None:
        return None
    return f"{platform.node()} ({ray.get_runtime_context().get_node_id()[:6]})"


def _loaded_and_connected() -> Any:
    """The module `ray`, if this process has loaded it and is connected to a cluster."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return None
    return ray


def first_line(error: BaseException) -> str:
    """
    The kind of an error and the first line of its text; of Ray's errors those of the
    cause.
    """
    cause = getattr(error, "cause", None) or error
    text, _, _ = str(cause).strip().partition("\n")
    return f"{type(cause).__name__}: {text.rstrip()}"
