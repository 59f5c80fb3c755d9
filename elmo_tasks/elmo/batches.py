"""Batches of sequences of similar length."""

from collections.abc import Iterator, Sequence


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
