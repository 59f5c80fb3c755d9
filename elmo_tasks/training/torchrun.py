"""
Training by torchrun: a process of `elmo-tasks train` for each process that torchrun
starts, on one or several machines, in one folder that they share.
"""

import hashlib
import json
import os
import socket
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

import torch
from torch.distributed import TCPStore

from elmo_tasks.errors import InputError
from elmo_tasks.system.run_names import MEETING, MEETING_TOKEN
from elmo_tasks.system.version import __version__
from elmo_tasks.training.launch import Launch

SECONDS_UNTIL_SHARED = 30.0
"""How long the first process's files may take to appear on other machines."""

_SECONDS_BETWEEN_TRIES = 0.2
_AGENT_STORE = "TORCHELASTIC_USE_AGENT_STORE"
_KEY = "elmo_tasks/meeting"
_LONG = timedelta(days=30)
"""Torchrun ends all processes when one of them ends."""


@dataclass(frozen=True)
class Torchrun:
    """
    What torchrun tells a process in its environment.

    The processes meet at a port that the first one opens for each attempt: torchrun's
    own store outlives a restart, and still has what the processes before it wrote.
    """

    rank: int
    processes: int
    processes_per_node: int
    address: str
    port: int
    restarts: int
    run_id: str

    @classmethod
    def of_environment(cls) -> Self | None:
        """`None` if torchrun did not start this process."""
        if "TORCHELASTIC_RUN_ID" not in os.environ:
            return None
        return cls(
            rank=int(os.environ["RANK"]),
            processes=int(os.environ["WORLD_SIZE"]),
            processes_per_node=int(os.environ["LOCAL_WORLD_SIZE"]),
            address=os.environ["MASTER_ADDR"],
            port=int(os.environ["MASTER_PORT"]),
            restarts=int(os.environ["TORCHELASTIC_RESTART_COUNT"]),
            run_id=os.environ["TORCHELASTIC_RUN_ID"],
        )

    def devices(self, config: Mapping[str, Any]) -> list[int]:
        """
        The device of each process: those of `distributed.cuda_devices` on each node,
        else its GPUs in order, or the CPU (-1) if the config says so or a node has no
        GPU. Raises `InputError` if their number is another.
        """
        per_node = self.processes_per_node
        given = (config.get("distributed") or {}).get("cuda_devices")
        if given is None:
            is_for_cpu = config["trainer"].get("cuda_device") == -1
            if is_for_cpu or not torch.cuda.is_available():
                given = [-1] * per_node
            else:
                given = list(range(torch.cuda.device_count()))
        if len(given) < per_node:
            wanted = f"expected {per_node} devices, one for each process of a node"
            hint = (
                "give torchrun another --nproc-per-node, "
                "or set distributed.cuda_devices"
            )
            raise InputError(f"{wanted}, got {len(given)}", hint=hint)
        nodes = self.processes // per_node
        return given[:per_node] * nodes

    def resumes(self, folder: Path) -> bool:
        """
        Whether this is another attempt at the run in the folder, of the same
        `--rdzv-id`.
        """
        try:
            if not folder.is_dir():
                return False
            if self.restarts > 0:
                return True
            known = (folder / MEETING).read_text()
        except OSError:
            return False
        return known == self.run_id and known != "none"

    @contextmanager
    def leading(self, folder: Path, config: Mapping[str, Any]) -> Iterator[TCPStore]:
        """
        Of the first process, which has prepared the folder: waits for the others. Gives
        the store at whose port the processes of this attempt meet; it is open as long
        as this process has it. Raises `InputError` if one of the others sees another
        folder, config or version of the package.
        """
        store = TCPStore(
            self.address,
            0,
            None,
            True,
            _LONG,
            wait_for_workers=False,
            multi_tenant=True,
        )
        for left in folder.iterdir():
            if MEETING_TOKEN.fullmatch(left.name):
                left.unlink(missing_ok=True)
        token = folder / f"{MEETING}.{uuid.uuid4().hex}"
        token.touch()
        (folder / MEETING).write_text(self.run_id)
        first = {
            "port": store.port,
            "token": token.name,
            "version": __version__,
            "config": _digest(config),
        }
        agent = self._agent_store()  # it is open as long as this object exists
        agent.set(_KEY, json.dumps(first))
        try:
            for rank in range(1, self.processes):
                problem = store.get(str(rank)).decode()
                if problem:
                    raise InputError(problem)
            yield store
        finally:
            token.unlink(missing_ok=True)

    def follow(
        self,
        folder: Path,
        config: Mapping[str, Any],
        *,
        seconds: float = SECONDS_UNTIL_SHARED,
    ) -> TCPStore:
        """
        Of another process: waits until the first one has prepared the folder and calls
        `launch`. Its files may take some `seconds` to appear.

        Raises `InputError` if this process sees another folder, config or version of
        the package.
        """
        while True:
            # Errors where the address is of an earlier attempt, or the first has ended.
            with suppress(OSError, torch.distributed.DistError):
                first = json.loads(self._agent_store().get(_KEY))
                store = self._store_of_first(first["port"])
                problem = self._difference(first, folder, config, seconds)
                store.set(str(self.rank), "" if problem is None else str(problem))
                if problem is not None:
                    raise problem
                store.get("ready")
                return store
            time.sleep(_SECONDS_BETWEEN_TRIES)

    def launch(self, store: TCPStore, config: Mapping[str, Any]) -> Launch:
        """
        This process's part in the training, in which the others meet at the port of the
        store. The first process lets the others begin. Raises `InputError` as
        `devices` does.
        """
        devices = self.devices(config)
        store.set("ready", "")
        os.environ[_AGENT_STORE] = "False"
        return Launch(self.rank, devices, self.address, store.port)

    def _store_of_first(self, port: int) -> TCPStore:
        """
        The store that the first process has opened; `OSError` if nothing answers at its
        port.
        """
        address = (self.address, port)
        socket.create_connection(address, SECONDS_UNTIL_SHARED).close()
        return TCPStore(self.address, port, None, False, _LONG, wait_for_workers=False)

    def _agent_store(self) -> TCPStore:
        """
        The store whose port torchrun tells, which it opens itself or leaves to the
        first process.
        """
        opens = self.rank == 0 and os.environ[_AGENT_STORE] == "False"
        return TCPStore(
            self.address,
            self.port,
            None,
            opens,
            _LONG,
            wait_for_workers=False,
            multi_tenant=True,
        )

    def _difference(
        self,
        first: Mapping[str, Any],
        folder: Path,
        config: Mapping[str, Any],
        seconds: float,
    ) -> InputError | None:
        """
        What this process sees otherwise than the first one; waits some seconds for its
        files.
        """
        where = f"process {self.rank}, on {socket.gethostname()}"
        if first["version"] != __version__:
            wanted = f"expected the first process's elmo-tasks {first['version']}"
            hint = "install the same version on all nodes"
            return InputError(f"{where}: {wanted}, got {__version__}", hint=hint)
        if first["config"] != _digest(config):
            problem = "expected the first process's config, got another"
            hint = "start all nodes with the same files, options and variables"
            return InputError(f"{where}: {problem}", hint=hint)
        until = time.monotonic() + seconds
        while not (folder / first["token"]).exists():
            if time.monotonic() > until:
                wanted = "expected the first process's folder"
                problem = f"{wanted}, got one without its files"
                hint = "give -s a folder that all nodes share"
                return InputError(f"{where}: {problem}", file=folder, hint=hint)
            time.sleep(_SECONDS_BETWEEN_TRIES)
        return None


def _digest(config: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()
