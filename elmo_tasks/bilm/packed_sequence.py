"""Sentences of unequal length -> packed steps, longest sentence first, so that no step computes on padding."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Packing:
    """
    The indices that pack B sentences, with their two boundary tokens, and unpack the outputs; compare
    `torch.nn.utils.rnn.PackedSequence`.

    # Parameters

    - `batch_sizes`: the number of sentences that reach each step; its sum is N.
    - `order`, [B]: the sentences by decreasing length.
    - `forward_from`, `backward_from`, [N]: for each packed index, the flat index `row * (T + 2) + position` of the
      token that the direction reads.
    - `forward_to`, `backward_to`, [B, T]: for each token without boundaries, the packed index of its output; 0 for
      padding.
    """

    batch_sizes: list[int]
    order: Tensor
    forward_from: Tensor
    backward_from: Tensor
    forward_to: Tensor
    backward_to: Tensor

    @classmethod
    def of(cls, mask: Tensor) -> "Packing":
        """The packing for a mask [B, T], true for the tokens at the beginning of each row."""
        lengths = mask.sum(1).cpu()  # [B]
        rows, longest = mask.shape
        steps = int(lengths.max()) + 2
        sorted_lengths, order = torch.sort(lengths + 2, descending=True, stable=True)
        rank = torch.empty_like(order).scatter_(0, order, torch.arange(rows))  # [B]
        step = torch.arange(steps)
        running = step[:, None] < sorted_lengths[None, :]  # [steps, B]
        starts = torch.cat([torch.zeros(1, dtype=torch.long), running.sum(1).cumsum(0)])
        base = order * (longest + 2)
        forward_from = (base[None, :] + step[:, None])[running]
        backward_from = (base[None, :] + sorted_lengths[None, :] - 1 - step[:, None])[
            running
        ]
        token = torch.arange(longest)
        present = token[None, :] < lengths[:, None]  # [B, T]
        ahead = torch.where(present, token[None, :] + 1, 0)
        behind = torch.where(present, lengths[:, None] - token[None, :], 0)
        places = [(starts[at] + rank[:, None]) * present for at in (ahead, behind)]
        indices = [order, forward_from, backward_from, *places]
        # One transfer to a GPU is faster than five.
        flat = torch.cat([index.flatten() for index in indices]).to(mask.device)
        parts = flat.split([index.numel() for index in indices])
        moved = [
            part.view(index.shape) for part, index in zip(parts, indices, strict=True)
        ]
        return cls(running.sum(1).tolist(), *moved)
