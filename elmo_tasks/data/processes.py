"""What the processes of a distributed training tell each other."""

from typing import Any, TypeVar

import torch.distributed
from allennlp.common.util import is_distributed

_Value = TypeVar("_Value")


def process_count() -> int:
    """
    How many processes train together. AllenNLP takes the mean of their gradients, so that a loss which is a sum over
    the batch must be multiplied by it, to be the sum over all processes' parts.
    """
    return torch.distributed.get_world_size() if is_distributed() else 1


def from_all_processes(value: _Value) -> list[_Value]:
    """
    The values of all processes, in their order; of this one alone where there are no others. For tables whose keys
    differ from process to process, so that sums per key would not do.
    """
    if not is_distributed():
        return [value]
    gathered: list[Any] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(gathered, value)
    return gathered
