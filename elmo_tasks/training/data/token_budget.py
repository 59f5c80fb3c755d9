"""
Batches of instances of similar length, with at most a number of instances and tokens.
"""

import random
from collections.abc import Iterable, Sequence
from typing import Optional

from allennlp.data import Instance
from allennlp.data.samplers import BatchSampler
from overrides import overrides

from elmo_tasks.bilm.packed_sequence import batches_by_length
from elmo_tasks.errors import InputError
from elmo_tasks.settings import Size, checked


@BatchSampler.register("elmo_tasks_token_budget")
class TokenBudgetSampler(BatchSampler):
    """
    Batches of instances of similar length with a limit on their tokens.

    The instances are sorted by the length of one field and cut into batches. These are
    the same in each epoch; only their order is random (as in the code of Clark and
    Gardner 2017, on which the paper's SQuAD model builds).

    # Parameters

    - `batch_size`: largest number of instances in a batch.
    - `sorting_key`: name of the text field whose length counts.
    - `max_tokens`: largest number of tokens of that field in a batch, padding included.
      A longer instance is a batch by itself. If null, there is no limit.
    - `shuffle`: if true, the batches are in random order; if false, by length, the
      shortest first.

    Raises `InputError`, while batching, if an instance does not have the field.
    """

    @checked
    def __init__(
        self,
        *,
        batch_size: Size,
        sorting_key: str,
        max_tokens: Optional[Size] = None,
        shuffle: bool = True,
    ) -> None:
        self.batch_size = batch_size
        self.max_tokens = max_tokens
        self._sorting_key = sorting_key
        self._shuffle = shuffle

    @overrides
    def get_batch_indices(self, instances: Sequence[Instance]) -> Iterable[list[int]]:
        batches = self._batches(instances)
        if self._shuffle:
            random.shuffle(batches)
        return batches

    @overrides
    def get_num_batches(self, instances: Sequence[Instance]) -> int:
        return len(self._batches(instances))

    @overrides
    def get_batch_size(self) -> int:
        return self.batch_size

    def _batches(self, instances: Sequence[Instance]) -> list[list[int]]:
        lengths = [self._length(instance) for instance in instances]
        batches = batches_by_length(
            lengths, batch_size=self.batch_size, max_tokens=self.max_tokens
        )
        return list(batches)

    def _length(self, instance: Instance) -> int:
        if self._sorting_key not in instance.fields:
            found = ", ".join(sorted(instance.fields))
            wanted = f"sorting_key must be a field of the instances ({found})"
            raise InputError(f"{wanted}, got {self._sorting_key!r}")
        return len(instance.fields[self._sorting_key])
