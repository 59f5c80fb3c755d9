"""
Training on some of the data: on seeded samples, each a subset of all larger ones
(Figure 1 of the paper), or on one part of the data, so that another is held out.
"""

import copy
import random
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal, Optional, Protocol, runtime_checkable

from allennlp.data import DataLoader, DatasetReader, Instance
from allennlp.data.data_loaders import MultiProcessDataLoader
from overrides import overrides

from elmo_tasks.errors import InputError
from elmo_tasks.settings import (
    Count,
    Limits,
    Positive,
    Seed,
    Size,
    checked,
)
from elmo_tasks.training.data.first_look import ReaderOfWords, looked_at

SHARE_LOADER = "elmo_tasks_share"
"""The type of `ShareDataLoader` in a config."""

Part = tuple[float, float]
"""
Where a part of the data starts and ends: 0 is the first instance, 1 the end. A part that
starts above its end wraps around to the beginning.
"""

WHOLE: Part = (0.0, 1.0)


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
    instances = islice(unsharded._read(file_path), reader.max_instances)
    if isinstance(reader, ReaderOfWords):
        return looked_at(instances, reader, str(file_path))
    return instances


def rest_of(part: Sequence[float]) -> Part:
    """
    The rest of the data: it has no unit in common with a part, and together they have
    all.
    """
    start, end = part
    return (end % 1.0, start or 1.0)


def units_in(part: Part, units: Sequence[Hashable]) -> set[Hashable]:
    """
    The units in a part of the data that starts below its end, from the unit of each
    instance in file order. A unit is not divided: it belongs to the part that has its
    middle.
    """
    start, end = part
    chosen = set()
    before = 0
    for unit, count in Counter(units).items():  # in the order of their first instances
        middle = (before + count / 2) / len(units)
        if start <= middle < end:
            chosen.add(unit)
        before += count
    return chosen


@runtime_checkable
class WithUnits(Protocol):
    """A reader some of whose instances belong together."""

    def unit_of(self, instance: Instance) -> Hashable:
        """The unit that an instance belongs to, such as its document."""


@runtime_checkable
class ListingUnits(Protocol):
    """A reader whose options decide how many instances it makes of a unit."""

    def units(self, file_path: Any) -> Sequence[Hashable]:
        """
        All units of a file, each once, in their order, so that readers with other
        options divide it at the same place.
        """


class SubsamplingReader(DatasetReader):
    """
    A part of the instances of another reader, up to its `max_instances`, or a sample of
    a part; `share` is above 0 and at most 1. Every process reads all of them and
    returns its own of those that are chosen.

    A part has whole units. Instances with the same `unit_of(instance)` of a reader
    `WithUnits` belong to one unit; otherwise each instance is one. Parts are measured in
    instances, or in units if the reader is `ListingUnits`.
    """

    def __init__(
        self,
        reader: DatasetReader,
        *,
        share: float = 1.0,
        seed: int = 0,
        part: Part = WHOLE,
    ) -> None:
        super().__init__(
            manual_distributed_sharding=True, manual_multiprocess_sharding=True
        )
        self._reader = reader
        self._share = share
        self._seed = seed
        self._part = part

    @overrides
    def _read(self, file_path: Any) -> Iterator[Instance]:
        instances = list(every_instance(self._reader, file_path))
        if not instances:
            raise InputError("expected instances, got none", file=str(file_path))
        kept = instances
        if self._part != WHOLE:
            kept = self.in_part(instances, file_path)
            # The rest would be empty, and is scored after the training.
            if len(kept) in (0, len(instances)):
                raise self._undivided(instances, file_path, got=kept)
        sample = sample_indices(len(kept), share=self._share, seed=self._seed)
        yield from self.shard_iterable([kept[index] for index in sample])

    def in_part(self, instances: Sequence[Instance], file_path: Any) -> list[Instance]:
        """Those of all instances of a file that are in the part."""
        of_instances, measured = self._units(instances, file_path)
        start, end = self._part
        pieces = [self._part]
        if start > end:
            pieces = [(start, 1.0), (0.0, end)]
        kept = []
        for piece in pieces:
            chosen = units_in(piece, measured)
            for instance, unit in zip(instances, of_instances, strict=True):
                if unit in chosen:
                    kept.append(instance)
        return kept

    def _units(
        self, instances: Sequence[Instance], file_path: Any
    ) -> tuple[Sequence[Hashable], Sequence[Hashable]]:
        """The unit of each instance, and the units by which parts are measured."""
        of_instances: list[Hashable] = list(range(len(instances)))
        if isinstance(self._reader, WithUnits):
            of_instances = [self._reader.unit_of(one) for one in instances]
        if isinstance(self._reader, ListingUnits):
            return of_instances, self._reader.units(file_path)
        return of_instances, of_instances

    def _undivided(
        self, instances: Sequence[Instance], file_path: Any, *, got: Sequence[Instance]
    ) -> InputError:
        start, end = self._part
        problem = f"expected some instances in the part {start:g} to {end:g}, got "
        problem += "all" if got else "none"
        _, measured = self._units(instances, file_path)
        hint = f"the data have {len(set(measured))} units, which are not divided"
        return InputError(problem, file=str(file_path), hint=hint)

    @overrides
    def text_to_instance(self, *inputs: Any, **named: Any) -> Instance:
        return self._reader.text_to_instance(*inputs, **named)

    @overrides
    def apply_token_indexers(self, instance: Instance) -> None:
        self._reader.apply_token_indexers(instance)


@DataLoader.register(SHARE_LOADER)
class ShareDataLoader(MultiProcessDataLoader):
    """
    AllenNLP's data loader on a fraction of the data: `"data_loader": {"type":
    "elmo_tasks_share", "share": 0.01}`, or on a part, such as the first nine tenths,
    `"part": [0, 0.9]`. The validation data need a
    `validation_data_loader`, which reads all.

    # Parameters

    - `share`: the fraction of the instances in the part, drawn at random; 1 or more:
      all of them.
    - `part`: start and end of the part that is read, in file order, as fractions of the
      instances (SST: of the sentences); a part that starts above its end wraps around to
      the beginning. Units are not divided: documents (coreference, SRL), articles
      (SQuAD; if there is only one, its paragraphs), pairs with the same premise (SNLI),
      sentences with their phrases.
    - `share_seed`: seed of the sample. Samples with the same seed are nested.
    - `batch_size`: instances in a batch, if there is no `batch_sampler`.
    - `drop_last`: if true, drop a last batch with fewer than `batch_size` instances.
    - `shuffle`: if true, shuffle the instances in each epoch.
    - `batch_sampler`: makes the batches; replaces the three keys above.
    - `batches_per_epoch`: batches in an epoch; null: all.
    - `num_workers`: processes that read the data; 0: the main process.
    - `max_instances_in_memory`: read this many instances at a time; null: keep all in
      memory.
    - `start_method`: how worker processes start. AllenNLP's loader gives them a lock
      that only forked processes can use.
    - `cuda_device`: device of the batches; the trainer sets it.
    - `quiet`: if true, show no progress bar while reading.
    """

    @checked
    def __init__(
        self,
        reader: DatasetReader,
        data_path: Any,
        *,
        share: Positive = 1.0,
        part: Limits = WHOLE,
        share_seed: Seed = 0,
        batch_size: Optional[Size] = None,
        batches_per_epoch: Optional[Size] = None,
        num_workers: Count = 0,
        max_instances_in_memory: Optional[Size] = None,
        start_method: Literal["fork"] = "fork",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            SubsamplingReader(
                reader, share=share, seed=share_seed, part=(part[0], part[1])
            ),
            data_path,
            batch_size=batch_size,
            batches_per_epoch=batches_per_epoch,
            num_workers=num_workers,
            max_instances_in_memory=max_instances_in_memory,
            start_method=start_method,
            **kwargs,
        )
