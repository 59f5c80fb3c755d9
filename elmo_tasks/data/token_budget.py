"""Batches of instances of similar length, kept within a number of instances and a number of tokens."""

import random
from collections.abc import Iterable, Iterator, Sequence

from allennlp.data import Instance
from allennlp.data.samplers import BatchSampler

from elmo_tasks.batches import batches_by_length
from elmo_tasks.errors import InputError
from elmo_tasks.ranges import require_sizes


@BatchSampler.register("elmo_tasks_token_budget")
class TokenBudgetSampler(BatchSampler):
    """
    Sorts the instances by the length of one field and cuts them into batches, which stay the same from epoch to epoch;
    only their order is drawn anew (as in Clark and Gardner's code, on which the paper's SQuAD model builds).

    # Parameters

    batch_size : `int`
        Instances of a batch at most; without a budget, exactly, but for the last one.
    sorting_key : `str`
        The text field whose length counts.
    max_tokens : `int`, optional
        Tokens of that field in a batch at most, padding included. An instance that is longer makes a batch alone.
    shuffle : `bool`
        Whether the order of the batches is drawn; else the shortest come first.

    # Raises

    `InputError`
        If a number is below 1; while batching, if an instance has no such field.
    """

    def __init__(
        self, *, batch_size: int, sorting_key: str, max_tokens: int | None = None, shuffle: bool = True
    ) -> None:
        require_sizes(batch_size=batch_size)
        if max_tokens is not None:
            require_sizes(max_tokens=max_tokens)
        self.batch_size, self.max_tokens = batch_size, max_tokens
        self._sorting_key, self._shuffle = sorting_key, shuffle

    def get_batch_indices(self, instances: Sequence[Instance]) -> Iterable[list[int]]:
        """The batches, each the places of its instances."""
        batches = list(self._batches([self._length(instance) for instance in instances]))
        if self._shuffle:
            random.shuffle(batches)
        return batches

    def get_num_batches(self, instances: Sequence[Instance]) -> int:
        """How many batches there are."""
        return sum(1 for _ in self._batches([self._length(instance) for instance in instances]))

    def get_batch_size(self) -> int:
        """Instances of a batch at most."""
        return self.batch_size

    def _batches(self, lengths: list[int]) -> Iterator[list[int]]:
        return batches_by_length(lengths, batch_size=self.batch_size, max_tokens=self.max_tokens)

    def _length(self, instance: Instance) -> int:
        if self._sorting_key not in instance.fields:
            found = ", ".join(sorted(instance.fields))
            raise InputError(f"sorting_key must be a field of the instances: {found}; it is {self._sorting_key!r}")
        return len(instance.fields[self._sorting_key])
