"""
Training by torchrun: a process of `elmo-tasks train` for each process that torchrun
starts, on one or several machines, in one folder that they share.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch
from allennlp.data.vocabulary import NAMESPACE_PADDING_FILE

from elmo_tasks.errors import InputError
from elmo_tasks.system.run_names import VOCABULARY
from elmo_tasks.training.launch import Launch

SECONDS_UNTIL_SHARED = 3600.0
"""How long the other processes wait for the vocabulary, which the first one makes."""

_SECONDS_BETWEEN_TRIES = 0.2


@dataclass(frozen=True)
class Torchrun:
    """What torchrun tells a process in its environment."""

    rank: int
    processes: int
    processes_per_node: int
    address: str
    port: int
    restarts: int

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
        )

    def launch(self, config: Mapping[str, Any]) -> Launch:
        """
        This process's part in the training: the devices of all processes, those of
        `distributed.cuda_devices` on each node, else its GPUs in order, or the CPU (-1)
        if the config says so or a node has no GPU. Raises `InputError` if a node has
        fewer devices than processes.
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
        devices = given[:per_node] * nodes
        return Launch(self.rank, devices, self.address, self.port)

    def wait_for(self, folder: Path, *, seconds: float = SECONDS_UNTIL_SHARED) -> None:
        """
        Of a process that is not the first one: waits until the first one has written
        the vocabulary. Raises `InputError` if it does not appear, as where nodes share
        no folder.
        """
        until = time.monotonic() + seconds
        vocabulary = folder / VOCABULARY / NAMESPACE_PADDING_FILE
        while not vocabulary.is_file():
            if time.monotonic() > until:
                problem = (
                    f"process {self.rank} waited {seconds:.0f} seconds for {VOCABULARY}"
                )
                hint = "give -s a folder that all nodes share"
                raise InputError(problem, file=folder, hint=hint)
            time.sleep(_SECONDS_BETWEEN_TRIES)
