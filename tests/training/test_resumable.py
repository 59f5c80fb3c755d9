"""The position in the data; test_trainer resumes with each of these loaders."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from allennlp.data import DatasetReader, Instance, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.fields import TensorField
from allennlp.data.samplers import BucketBatchSampler

from elmo_tasks.errors import InputError
from elmo_tasks.training.data.subsampling import ShareDataLoader
from elmo_tasks.training.resume.resumable import Passes, make_resumable


class Numbers(DatasetReader):
    """The numbers from 0 to `data_path`."""

    def _read(self, file_path: Any) -> Iterator[Instance]:
        return (
            Instance({"x": TensorField(torch.tensor([float(i)] * (i % 5 + 1)))})
            for i in range(int(file_path))
        )


LOADERS: dict[str, dict[str, Any]] = {
    "shuffled": {"batch_size": 2, "shuffle": True},
    "in pieces": {"batch_size": 2, "shuffle": True, "max_instances_in_memory": 4},
    "bucketed": {"batch_sampler": BucketBatchSampler(2, sorting_keys=["x"])},
    "shorter epochs": {"batch_size": 2, "shuffle": True, "batches_per_epoch": 3},
    "longer epochs": {
        "batch_sampler": BucketBatchSampler(2, sorting_keys=["x"]),
        "batches_per_epoch": 8,
    },
    "pieces over epochs": {
        "batch_size": 2,
        "shuffle": True,
        "max_instances_in_memory": 4,
        "batches_per_epoch": 4,
    },
}
"""For 11 numbers: a pass has six batches, the last one smaller."""


def loader(kind: str, size: int = 11) -> Passes:
    made = MultiProcessDataLoader(Numbers(), str(size), quiet=True, **LOADERS[kind])
    made.index_with(Vocabulary())
    made.set_target_device(torch.device("cpu"))
    return Passes(made)


def numbers(batch: dict[str, Any]) -> list[float]:
    return batch["x"][:, 0].tolist() if batch else []


@pytest.mark.parametrize("kind", LOADERS)
def test_batches_equal_those_of_allennlps_loader(kind: str) -> None:
    random.seed(4)
    expected = [numbers(batch) for batch in loader(kind).loader]
    random.seed(4)
    assert [numbers(batch) for batch in loader(kind)] == expected


def test_an_abandoned_epoch_does_not_shorten_the_next() -> None:
    made = loader("shuffled")
    next(iter(made))
    assert len(list(made)) == len(made) == 6


def test_positions_of_other_data_are_rejected() -> None:
    first = loader("shuffled")
    epoch = iter(first)
    for _ in range(5):
        next(epoch)
    with pytest.raises(InputError, match="expected at least 5 batches in 4, got 2"):
        loader("shuffled", size=4).resume(first.position(), batches=5)
    with pytest.raises(InputError, match="no batch in 0"):
        list(loader("pieces over epochs", size=0))


def test_make_resumable() -> None:
    share = ShareDataLoader(Numbers(), "8", share=0.5, batch_size=1)
    assert isinstance(make_resumable(share), Passes)

    class Backwards(MultiProcessDataLoader):
        def __iter__(self) -> Iterator[Any]:
            return reversed(list(super().__iter__()))

    with pytest.raises(InputError, match="got Backwards"):
        make_resumable(Backwards(Numbers(), "3", batch_size=1))
