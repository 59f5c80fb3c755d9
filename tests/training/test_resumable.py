"""The place in the data: a loader that goes on gives the batches that the first one would have given."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from allennlp.data import DatasetReader, Instance, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader, SimpleDataLoader
from allennlp.data.fields import TensorField
from allennlp.data.samplers import BucketBatchSampler

from elmo_tasks.data.subsampling import ShareDataLoader
from elmo_tasks.errors import InputError
from elmo_tasks.training.resumable import Passes, followed
from elmo_tasks.training.rng_state import random_state, set_random_state


class Numbers(DatasetReader):
    """The numbers from 0; `data_path` says how many."""

    def _read(self, file_path: Any) -> Iterator[Instance]:
        return (Instance({"x": TensorField(torch.tensor([float(i)] * (i % 5 + 1)))}) for i in range(int(file_path)))


LOADERS: dict[str, dict[str, Any]] = {
    "shuffled": {"batch_size": 2, "shuffle": True},
    "in pieces": {"batch_size": 2, "shuffle": True, "max_instances_in_memory": 4},
    "bucketed": {"batch_sampler": BucketBatchSampler(2, sorting_keys=["x"])},
    "shorter epochs": {"batch_size": 2, "shuffle": True, "batches_per_epoch": 3},
    "longer epochs": {"batch_sampler": BucketBatchSampler(2, sorting_keys=["x"]), "batches_per_epoch": 8},
    "pieces over epochs": {"batch_size": 2, "shuffle": True, "max_instances_in_memory": 4, "batches_per_epoch": 4},
}
"""Of 11 numbers, so that a pass has six batches, the last of them a smaller one."""


def loader(kind: str, size: int = 11) -> Passes:
    made = MultiProcessDataLoader(Numbers(), str(size), quiet=True, **LOADERS[kind])
    made.index_with(Vocabulary())
    made.set_target_device(torch.device("cpu"))
    return Passes(made)


def numbers(batch: dict[str, Any]) -> list[float]:
    return batch["x"][:, 0].tolist() if batch else []


def epochs(made: Passes, count: int) -> Iterator[list[float]]:
    """The batches of so many epochs, between which others draw random numbers, too."""
    for _ in range(count):
        for batch in made:
            yield numbers(batch)
            random.random()


@pytest.mark.parametrize("kind", LOADERS)
def test_a_followed_loader_gives_what_allennlps_own_gives(kind: str) -> None:
    random.seed(4)
    own = loader(kind).loader
    wanted = [numbers(batch) for _ in range(3) for batch in own]
    random.seed(4)
    made = loader(kind)
    assert [numbers(batch) for _ in range(3) for batch in made] == wanted
    assert len({tuple(batch) for batch in wanted}) > 6, "nothing was shuffled"


@pytest.mark.parametrize("kind", LOADERS)
@pytest.mark.parametrize("done", [(0, 1), (0, 3), (1, 0), (1, 2), (2, 1), (2, 3)])
def test_going_on(kind: str, done: tuple[int, int]) -> None:
    """After so many epochs and batches, those of the last epoch passed over."""
    random.seed(4)
    first = loader(kind)
    for _ in epochs(first, done[0]):
        pass
    epoch = iter(first)
    for _ in range(done[1]):
        next(epoch)
        random.random()
    position, state = first.position(), random_state()
    wanted = [numbers(batch) for batch in epoch] + list(epochs(first, 2))

    random.seed(99)
    second = loader(kind)
    second.resume(position, batches=done[1])
    set_random_state(state)
    found = iter(second)
    assert [next(found) for _ in range(done[1])] == [{}] * done[1]
    assert [numbers(batch) for batch in found] + list(epochs(second, 2)) == wanted


def test_an_epoch_given_up_does_not_shorten_the_next() -> None:
    made = loader("shuffled")
    next(iter(made))
    assert len(list(made)) == 6


def test_a_position_of_other_data_is_refused() -> None:
    first = loader("shuffled")
    epoch = iter(first)
    for _ in range(5):
        next(epoch)
    with pytest.raises(InputError, match=r"written after 5 batches of a pass over 4, which now has 2 \(give the train"):
        loader("shuffled", size=4).resume(first.position(), batches=5)


def test_no_data_for_epochs_that_go_on() -> None:
    with pytest.raises(InputError, match="there is no batch in 0"):
        list(loader("pieces over epochs", size=0))


def test_the_length_is_the_loaders() -> None:
    assert [len(loader(kind)) for kind in ("shuffled", "longer epochs")] == [6, 8]
    with pytest.raises(TypeError):
        len(loader("in pieces"))


def test_a_loader_that_makes_its_batches_as_allennlp_does_is_followed() -> None:
    share = ShareDataLoader(Numbers(), "8", share=0.5, batch_size=1)
    share.index_with(Vocabulary())
    assert isinstance(followed(share), Passes)


def test_a_loader_that_makes_its_own_batches_is_refused() -> None:
    class Backwards(MultiProcessDataLoader):
        def __iter__(self) -> Iterator[Any]:
            return reversed(list(super().__iter__()))

    with pytest.raises(InputError, match="the data loader Backwards"):
        followed(Backwards(Numbers(), "3", batch_size=1))


def test_a_loader_that_does_not_know_its_place_is_refused() -> None:
    instances = list(Numbers().read("3"))
    with pytest.raises(InputError, match="cannot go on exactly with the data loader SimpleDataLoader"):
        followed(SimpleDataLoader(instances, batch_size=1))
