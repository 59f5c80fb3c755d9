"""
A share of the training data, for Figure 1 of the paper: a seeded sample that holds every smaller one of the same seed,
whatever the reader, and whichever process of a loader or of a distributed training reads.
"""

import copy
import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

from allennlp.data import DataLoader, DatasetReader, Instance
from allennlp.data.data_loaders import MultiProcessDataLoader

from elmo_tasks.errors import InputError


def chosen_places(count: int, *, share: float, seed: int) -> list[int]:
    """
    Which of `count` instances belong to a share, in ascending order: at least one, and all of those of smaller shares.
    """
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return sorted(order[: max(1, round(share * count))])


def every_instance(reader: DatasetReader, file_path: Any) -> Iterator[Instance]:
    """
    The instances of a reader up to its `max_instances`, without token indexers. A process of a distributed training
    or a worker of a data loader gets all of them, not its part.
    """
    whole = copy.copy(reader)
    whole.max_instances = None
    vars(whole)["shard_iterable"] = iter
    return islice(whole._read(file_path), reader.max_instances)


class SubsamplingReader(DatasetReader):
    """
    What another reader reads, but a share of it. Every process reads all, and takes its part of the sample.

    # Parameters

    reader : `DatasetReader`
        Is left as it is. Its `max_instances` counts before sampling.
    share : `float`
        Above 0, at most 1.
    seed : `int`
    """

    def __init__(self, reader: DatasetReader, *, share: float, seed: int) -> None:
        super().__init__(manual_distributed_sharding=True, manual_multiprocess_sharding=True)
        self._reader, self._share, self._seed = reader, share, seed

    def _read(self, file_path: Any) -> Iterator[Instance]:
        instances = list(every_instance(self._reader, file_path))  # sharding comes after sampling
        if not instances:
            raise InputError("there is nothing to take a share of", file=str(file_path))
        places = chosen_places(len(instances), share=self._share, seed=self._seed)
        yield from self.shard_iterable(instances[place] for place in places)

    def text_to_instance(self, *inputs: Any, **named: Any) -> Instance:
        """The other reader's."""
        return self._reader.text_to_instance(*inputs, **named)

    def apply_token_indexers(self, instance: Instance) -> None:
        """The other reader's."""
        self._reader.apply_token_indexers(instance)


@DataLoader.register("elmo_tasks_share")
class ShareDataLoader(MultiProcessDataLoader):
    """
    AllenNLP's data loader on a share of the data: `"data_loader.type": "elmo_tasks_share", "data_loader.share": 0.01`.
    Validation has a loader of its own and stays whole.

    # Parameters

    share : `float`
        Above 0, at most 1.
    share_seed : `int`
        Of the sample; that of the order of batches is the run's.
    kwargs
        Those of `MultiProcessDataLoader`.

    # Raises

    `InputError`
        If `share` is none.
    """

    def __init__(
        self, reader: DatasetReader, data_path: Any, *, share: float, share_seed: int = 0, **kwargs: Any
    ) -> None:
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
            raise InputError(f"share must be above 0 and at most 1, found {share!r}")
        super().__init__(SubsamplingReader(reader, share=share, seed=share_seed), data_path, **kwargs)
