"""What the processes of a distributed training tell each other."""

from typing import Any, TypeVar

import torch.distributed

_Value = TypeVar("_Value")


def is_distributed() -> bool:
    """Whether this process trains together with others."""
    return torch.distributed.is_available() and torch.distributed.is_initialized()


def process_count() -> int:
    """
    How many processes train together. AllenNLP takes the mean of their gradients, so that a loss which is a sum over
    the batch must be multiplied by it, to be the sum over all processes' parts.
    """
    return torch.distributed.get_world_size() if is_distributed() else 1


def process_rank() -> int:
    """The place of this process among those that train together, from 0."""
    return torch.distributed.get_rank() if is_distributed() else 0


def from_first_process(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor of the first process, on the CPU; every process gives one of the same shape and type."""
    if not is_distributed():
        return tensor
    on_gpu = torch.distributed.get_backend() == "nccl"  # which exchanges tensors on GPUs alone
    given = tensor.to("cuda" if on_gpu else "cpu")
    torch.distributed.broadcast(given, 0)
    return given.cpu()


def all_gather_objects(value: _Value) -> list[_Value]:
    """
    The values of all processes, in their order; of this one alone where there are no others. For tables whose keys
    differ from process to process, so that sums per key would not do.
    """
    if not is_distributed():
        return [value]
    gathered: list[Any] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(gathered, value)
    return gathered
