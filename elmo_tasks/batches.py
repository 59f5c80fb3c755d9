"""Batches of sequences of similar length, within a number of sequences and a number of tokens."""

from collections.abc import Iterator, Sequence


def batches_by_length(
    lengths: Sequence[int], *, batch_size: int | None = None, max_tokens: int | None = None
) -> Iterator[list[int]]:
    """
    The places of all sequences, the shortest first, cut into batches; equal lengths keep their order.

    # Parameters

    lengths : `Sequence[int]`
        Tokens of each sequence.
    batch_size : `int`, optional
        Sequences of a batch at most; without a budget, exactly, but for the last one.
    max_tokens : `int`, optional
        Tokens of a batch at most, padding included. A sequence that is longer makes a batch alone.
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        over_budget = max_tokens is not None and (len(batch) + 1) * lengths[place] > max_tokens
        if batch and (over_budget or len(batch) == batch_size):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
