"""
A data loader that gives only the largest batch, for the memory that a training takes.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from allennlp.common import Lazy
from allennlp.data import DataLoader, DatasetReader, Field, Instance, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.fields import ListField, TextField
from allennlp.nn.util import move_to_device
from overrides import overrides

from elmo_tasks.errors import InputError

LARGEST_BATCH = "elmo_tasks_largest_batch"
"""The registered name."""


@DataLoader.register(LARGEST_BATCH)
class LargestBatchLoader(DataLoader):
    """
    For the memory of a training: `elmo-tasks ablate --dry-run --resources` uses it.

    Reads all instances as the data loader with the options `loader` does, and keeps
    them in memory like it. It has one batch: of those that its sampler makes, the one
    with the most tokens, padding included; without a sampler, the instances with the
    most tokens. Raises `InputError` for another data loader than AllenNLP's own.

    # Parameters

    - `loader`: the config of the data loader whose largest batch it has.
    """

    def __init__(
        self, reader: DatasetReader, data_path: Any, *, loader: Lazy[DataLoader]
    ) -> None:
        made = loader.construct(reader=reader, data_path=data_path)
        if not isinstance(made, MultiProcessDataLoader):
            kind = type(made).__name__
            raise InputError(f"the batches of the data loader {kind} are not known")
        self._loader = made
        self._device: torch.device | None = None
        self._vocab: Vocabulary | None = None

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[dict[str, Any]]:
        chosen = self._largest(list(self._loader.iter_instances()))
        for instance in chosen:
            instance.index_fields(self._vocab)
        batch = self._loader.collate_fn(chosen)
        if self._device is not None:
            batch = move_to_device(batch, self._device)
        yield dict(batch)

    @overrides
    def iter_instances(self) -> Iterator[Instance]:
        yield from self._loader.iter_instances()

    @overrides
    def index_with(self, vocab: Vocabulary) -> None:
        self._vocab = vocab
        self._loader.index_with(vocab)

    @overrides
    def set_target_device(self, device: torch.device) -> None:
        self._device = device

    def position(self) -> dict[str, Any]:
        """Nothing, as there is a single batch; trainer `elmo_tasks` saves it."""
        return {}

    def resume(self, position: dict[str, Any], *, batches: int) -> None:
        """Nothing is resumed."""

    def _largest(self, instances: list[Instance]) -> list[Instance]:
        sampler = self._loader.batch_sampler
        if sampler is None:
            by_size = sorted(instances, key=_tokens, reverse=True)
            return by_size[: self._loader.batch_size]
        batches = []
        for indices in sampler.get_batch_indices(instances):
            batches.append([instances[index] for index in indices])
        return max(batches, key=_padded_tokens)


def _tokens(instance: Instance) -> int:
    return sum(map(_length, instance.fields.values()))


def _padded_tokens(batch: Sequence[Instance]) -> int:
    """The tokens of a batch in all its text fields, padding included."""
    total = 0
    for name in batch[0].fields:
        total += max([_length(instance.fields[name]) for instance in batch])
    return len(batch) * total


def _length(field: Field) -> int:
    """The tokens of a text field, or of a list of text fields; 0 for other fields."""
    parts = field if isinstance(field, ListField) else [field]
    return sum([len(part) for part in parts if isinstance(part, TextField)])
