"""Communication between the processes of distributed training."""

import os
from typing import Any, TypeVar

import torch.distributed

_Value = TypeVar("_Value")


def is_distributed() -> bool:
    """Whether this is one of several processes that train together."""
    return torch.distributed.is_available() and torch.distributed.is_initialized()


def process_count() -> int:
    """
    The number of processes. AllenNLP averages their gradients, so a loss that is a sum
    over the whole batch must be multiplied by it.
    """
    return torch.distributed.get_world_size() if is_distributed() else 1


def process_rank() -> int:
    """The rank of this process, from 0."""
    return torch.distributed.get_rank() if is_distributed() else 0


def node_count() -> int:
    """
    The number of machines, or groups of processes, that torchrun has started; 1 without
    torchrun.
    """
    return process_count() // _processes_per_node()


def node_rank() -> int:
    """The number of this process's node, from 0."""
    return process_rank() // _processes_per_node()


def _processes_per_node() -> int:
    stated = os.environ.get("LOCAL_WORLD_SIZE", process_count())
    return min(process_count(), int(stated))


def from_first_process(value: _Value) -> _Value:
    """The first process's value."""
    values = [value]
    if is_distributed():
        torch.distributed.broadcast_object_list(values)
    return values[0]


def all_gather_objects(value: _Value) -> list[_Value]:
    """
    The values of all processes, in order. For tables whose keys differ between
    processes.
    """
    if not is_distributed():
        return [value]
    gathered: list[Any] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(gathered, value)
    return gathered
