"""Communication between the processes of distributed training."""

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
