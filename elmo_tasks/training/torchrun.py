"""
Training by torchrun: a process of `elmo-tasks train` for each process that torchrun
starts, on one or several machines, in one folder that they share; and what a process of
any training runs. The module is light: a new process must make AllenNLP importable
first.
"""

import copy
import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

import torch
from torch.distributed import TCPStore

from elmo_tasks.errors import InputError
from elmo_tasks.host import load_allennlp


@dataclass(frozen=True)
class Training:
    """What all processes of a training get: plain data, which can be sent to them."""

    config: Mapping[str, Any]
    folder: Path
    packages: Sequence[str]


@dataclass(frozen=True)
class Launch:
    """A process of a training; without arguments, the only one."""

    rank: int = 0
    devices: Sequence[int] = ()
    """Of each process, in order; none stands for the device that the trainer states."""

    address: str = "127.0.0.1"
    port: int = 29500
    """Where the first process waits for the others."""


def run(training: Training, launch: Launch) -> None:
    """
    AllenNLP's training, or the part of this process in it. Several processes read the
    vocabulary that is in the folder of the run, and so does a run that is resumed.
    """
    load_allennlp()
    from allennlp.commands.train import _train_worker
    from allennlp.common import Params

    from elmo_tasks.training.checks.training import VERIFIED
    from elmo_tasks.training.folder import has_checkpoint, use_vocabulary

    config = copy.deepcopy(dict(training.config))
    included = config.pop("include_in_archive", None)
    distributed = config.pop("distributed", None) or {}
    distributed.pop("cuda_devices", None)  # they are those of `launch`
    config["type"] = VERIFIED
    params = Params(config)
    if launch.devices or has_checkpoint(training.folder):
        use_vocabulary(params, training.folder)
    _train_worker(
        launch.rank,
        params,
        training.folder,
        ["elmo_tasks.plugin", *training.packages],
        primary_addr=launch.address,
        primary_port=launch.port,
        world_size=max(1, len(launch.devices)),
        distributed_device_ids=list(launch.devices),
        include_in_archive=included,
        distributed_params=Params(distributed),
    )
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def run_as(rank: int, training: Training, launch: Launch) -> None:
    """`run` in the process `rank` of those that this program has started."""
    run(training, replace(launch, rank=rank))


_AGENT_STORE = "TORCHELASTIC_USE_AGENT_STORE"
_PORT = "elmo_tasks/port"
_READY = "elmo_tasks/ready"
_SECONDS_BETWEEN_TRIES = 0.2
_SECONDS_TO_CONNECT = 30.0

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
        )

    def devices(self, config: Mapping[str, Any]) -> list[int]:
        """
        The device of each process: those of `distributed.cuda_devices` on each node,
        else its GPUs in order, or the CPU (-1) if the config says so or a node has no
        GPU. Raises `InputError` if a node has fewer devices than processes.
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

    @contextmanager
    def leading(self) -> Iterator[TCPStore]:
        """
        Of the first process: the store at whose port the processes of this attempt
        meet.
        """
        store = _store(self.address, 0, opens=True)
        opens = os.environ[_AGENT_STORE] == "False"
        torchruns = _store(self.address, self.port, opens=opens)
        torchruns.set(_PORT, str(store.port))
        yield store

    def follow(self) -> TCPStore:
        """
        Of another process: the store of the first one, once that has made the
        vocabulary and calls `launch`.
        """
        while True:
            # Errors where the port is of an earlier attempt, or the first has ended.
            with suppress(OSError, torch.distributed.DistError):
                port = int(_store(self.address, self.port).get(_PORT))
                address = (self.address, port)
                socket.create_connection(address, _SECONDS_TO_CONNECT).close()
                store = _store(self.address, port)
                store.get(_READY)
                return store
            time.sleep(_SECONDS_BETWEEN_TRIES)

    def launch(self, store: TCPStore, config: Mapping[str, Any]) -> Launch:
        """
        This process's part in the training, in which the others meet at the port of the
        store. The first process lets the others begin. Raises `InputError` as
        `devices` does.
        """
        devices = self.devices(config)
        store.set(_READY, "")
        os.environ[_AGENT_STORE] = "False"
        return Launch(self.rank, devices, self.address, store.port)


def _store(address: str, port: int, *, opens: bool = False) -> TCPStore:
    return TCPStore(
        address,
        port,
        None,
        opens,
        _LONG,
        wait_for_workers=False,
        multi_tenant=True,
    )
