"""
Training by torchrun: a process of `elmo-tasks train` for each process that torchrun
starts, on one or several machines, in one folder that they share; and what a process of
any training runs. The module is light: a new process must make AllenNLP importable
first.
"""

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

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


def launch_of_torchrun(config: Mapping[str, Any]) -> Launch | None:
    """
    This process's part in a training by torchrun, from its environment; `None` if
    torchrun did not start this process. The processes meet at the port after that of
    torchrun's own store, which the first one opens: torchrun's outlives a restart, and
    still has what the processes before it wrote.

    The devices are those of `distributed.cuda_devices` on each node, else its GPUs in
    order, or the CPU (-1) if the config says so or a node has no GPU. Raises
    `InputError` if a node has fewer devices than processes.
    """
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return None
    per_node = int(os.environ["LOCAL_WORLD_SIZE"])
    given = (config.get("distributed") or {}).get("cuda_devices")
    if given is None:
        is_for_cpu = config["trainer"].get("cuda_device") == -1
        if is_for_cpu or not torch.cuda.is_available():
            given = [-1] * per_node
        else:
            given = list(range(torch.cuda.device_count()))
    if len(given) < per_node:
        problem = f"expected {per_node} devices, one for each process of a node"
        hint = "give torchrun another --nproc-per-node, or set distributed.cuda_devices"
        raise InputError(f"{problem}, got {len(given)}", hint=hint)
    os.environ[_AGENT_STORE] = "False"
    nodes = int(os.environ["WORLD_SIZE"]) // per_node
    return Launch(
        rank=int(os.environ["RANK"]),
        devices=given[:per_node] * nodes,
        address=os.environ["MASTER_ADDR"],
        port=int(os.environ["MASTER_PORT"]) + 1,
    )
