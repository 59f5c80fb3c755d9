"""
Sentences of unequal length -> packed steps, longest sentence first, so that no step
computes on padding; and batches of sequences of similar length.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Packing:
    """
    The indices that pack B sentences, with their two boundary tokens, and unpack the
    outputs; compare `torch.nn.utils.rnn.PackedSequence`.

    # Parameters

    - `batch_sizes`: the number of sentences that reach each step; its sum is N.
    - `order`, [B]: the sentences by decreasing length.
    - `forward_from`, `backward_from`, [N]: for each packed index, the flat index `row *
      (T + 2) + position` of the token that the direction reads.
    - `forward_to`, `backward_to`, [B, T]: for each token without boundaries, the packed
      index of its output; 0 for padding.
    """

    batch_sizes: list[int]
    order: Tensor
    forward_from: Tensor
    backward_from: Tensor
    forward_to: Tensor
    backward_to: Tensor

    @classmethod
    def of(cls, mask: Tensor) -> "Packing":
        """
        The packing for a mask [B, T], true for the tokens at the beginning of each row.
        """
        lengths = mask.sum(1).cpu()  # [B]
        rows, longest = mask.shape
        step = torch.arange(int(lengths.max()) + 2)
        with_boundaries, order = torch.sort(lengths + 2, descending=True, stable=True)
        running = step[:, None] < with_boundaries[None, :]  # [steps, B]
        # The token that each running row reads at each step, from either end.
        base = order * (longest + 2)
        ahead = base[None, :] + step[:, None]
        behind = base[None, :] + with_boundaries[None, :] - 1 - step[:, None]
        # The packed index of each token's output: where its step starts, plus its row.
        starts = torch.cat([torch.zeros(1, dtype=torch.long), running.sum(1).cumsum(0)])
        rank = torch.empty_like(order).scatter_(0, order, torch.arange(rows))  # [B]
        token = torch.arange(longest)
        present = token[None, :] < lengths[:, None]  # [B, T]
        forward_step = torch.where(present, token[None, :] + 1, 0)
        backward_step = torch.where(present, lengths[:, None] - token[None, :], 0)
        indices = [
            order,
            ahead[running],
            behind[running],
            (starts[forward_step] + rank[:, None]) * present,
            (starts[backward_step] + rank[:, None]) * present,
        ]
        return cls(running.sum(1).tolist(), *_moved(indices, mask.device))

    def indices(self, direction: str) -> tuple[Tensor, Tensor]:
        """What a direction reads, [N], and where its outputs are, [B, T]."""
        if direction == "forward":
            return self.forward_from, self.forward_to
        return self.backward_from, self.backward_to


def _moved(indices: list[Tensor], device: torch.device) -> list[Tensor]:
    """
    Several tensors of integers on a device, in one transfer, which is faster than
    several.
    """
    flat = torch.cat([index.flatten() for index in indices]).to(device)
    parts = flat.split([index.numel() for index in indices])
    return [part.view_as(index) for part, index in zip(parts, indices, strict=True)]


def batches_by_length(
    lengths: Sequence[int],
    *,
    batch_size: int | None = None,
    max_tokens: int | None = None,
) -> Iterator[list[int]]:
    """
    The indices of all sequences, sorted by length (stable) and split into batches of at
    most `batch_size` sequences and `max_tokens` tokens, including padding. A longer
    sequence gets its own batch.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        over_budget = (
            max_tokens is not None and (len(batch) + 1) * lengths[index] > max_tokens
        )
        if batch and (over_budget or len(batch) == batch_size):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
