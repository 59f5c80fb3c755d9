"""
Training on a fraction of the data (Figure 1 of the paper): seeded samples, each a
subset of all larger ones.
"""

import copy
import random
from collections.abc import Iterator
from itertools import islice
from typing import Any, Optional

from allennlp.data import DataLoader, DatasetReader, Instance
from allennlp.data.data_loaders import MultiProcessDataLoader
from overrides import overrides

from elmo_tasks.errors import InputError
from elmo_tasks.settings import Count, Positive, Seed, Size, checked


def sample_indices(count: int, *, share: float, seed: int) -> list[int]:
    """The sorted indices of a sample of `count` instances, at least one."""
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return sorted(order[: max(1, round(share * count))])


def every_instance(reader: DatasetReader, file_path: Any) -> Iterator[Instance]:
    """
    The instances of a reader up to its `max_instances`, without token indexers.
    Distributed processes and workers of data loaders get all of them.
    """
    unsharded = copy.copy(reader)
    unsharded.max_instances = None
    vars(unsharded)["shard_iterable"] = iter
    return islice(unsharded._read(file_path), reader.max_instances)


class SubsamplingReader(DatasetReader):
    """
    A sample of the instances of another reader, up to its `max_instances`; `share` is
    above 0 and at most 1. Every process reads all of them and returns its part of the
    sample.
    """

    def __init__(self, reader: DatasetReader, *, share: float, seed: int) -> None:
        super().__init__(
            manual_distributed_sharding=True, manual_multiprocess_sharding=True
        )
        self._reader = reader
        self._share = share
        self._seed = seed

    @overrides
    def _read(self, file_path: Any) -> Iterator[Instance]:
        instances = list(every_instance(self._reader, file_path))
        if not instances:
            raise InputError("expected instances, got none", file=str(file_path))
        sample = sample_indices(len(instances), share=self._share, seed=self._seed)
        yield from self.shard_iterable([instances[index] for index in sample])

    @overrides
    def text_to_instance(self, *inputs: Any, **named: Any) -> Instance:
        return self._reader.text_to_instance(*inputs, **named)

    @overrides
    def apply_token_indexers(self, instance: Instance) -> None:
        self._reader.apply_token_indexers(instance)


@DataLoader.register("elmo_tasks_share")
class ShareDataLoader(MultiProcessDataLoader):
    """
    AllenNLP's data loader on a fraction of the data: `"data_loader": {"type":
    "elmo_tasks_share", "share": 0.01}`. The validation data are not affected.

    # Parameters

    - `share`: the fraction of the instances; 1 or more: all of them.
    - `share_seed`: seed of the sample. Samples with the same seed are nested.
    - `batch_size`: instances in a batch, if there is no `batch_sampler`.
    - `drop_last`: if true, drop a last batch with fewer than `batch_size` instances.
    - `shuffle`: if true, shuffle the instances in each epoch.
    - `batch_sampler`: makes the batches; replaces the three keys above.
    - `batches_per_epoch`: batches in an epoch; null: all.
    - `num_workers`: processes that read the data; 0: the main process.
    - `max_instances_in_memory`: read this many instances at a time; null: keep all in
      memory.
    - `start_method`: how worker processes start.
    - `cuda_device`: device of the batches; the trainer sets it.
    - `quiet`: if true, show no progress bar while reading.
    """

    @checked
    def __init__(
        self,
        reader: DatasetReader,
        data_path: Any,
        *,
        share: Positive,
        share_seed: Seed = 0,
        batch_size: Optional[Size] = None,
        batches_per_epoch: Optional[Size] = None,
        num_workers: Count = 0,
        max_instances_in_memory: Optional[Size] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            SubsamplingReader(reader, share=share, seed=share_seed),
            data_path,
            batch_size=batch_size,
            batches_per_epoch=batches_per_epoch,
            num_workers=num_workers,
            max_instances_in_memory=max_instances_in_memory,
            **kwargs,
        )
