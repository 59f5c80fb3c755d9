"""
The parts of a training on its first instances: reader, vocabulary, model, data loaders,
a batch, a step.
"""

import copy
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from allennlp.common import Params
from allennlp.data import Batch, DataLoader, DatasetReader, Instance, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.dataset_readers import MultiTaskDatasetReader
from allennlp.models import Model
from overrides import overrides
from torch import nn

from elmo_tasks.elmo.allocation import TooLarge, parameters_of_at_most
from elmo_tasks.elmo.source_types import FILE_KEYS
from elmo_tasks.formats.fetch import NotAllowed
from elmo_tasks.formats.models import published
from elmo_tasks.training.checks.files import REMOTE
from elmo_tasks.training.nested import strings

BATCH = 2
"""Instances of a batch."""

MOST_BYTES, MOST_PARAMETERS = 2**30, 100_000
"""Of a model that is constructed; a larger one takes too long."""

REQUIRED = ("dataset_reader", "train_data_path", "model", "data_loader")
"""Keys without which AllenNLP trains nothing, and says so."""

NOT_IN_MODEL = ("pretrained_file", "lookup_file", "keep_all_pretrained", "cache_dir")
"""Keys that decide what parameters contain, and not their names."""

NOT_IN_VOCABULARY = (
    "min_count",  # no word is frequent among few instances
    "pretrained_files",
    "only_include_pretrained_words",
    "min_pretrained_embeddings",
)

NOT_IN_LOADER = (
    "batches_per_epoch",
    "cuda_device",
    "drop_last",
    "max_instances_in_memory",
    "num_workers",
    "part",  # of a few instances, may be empty
)

GIVEN_BY_TRAINING: dict[str, Any] = {"serialization_dir": None, "local_rank": 0}
"""What a training passes to the parts of a config; here there is no folder."""


class Failed(Exception):
    """
    What was expected at a key of the config. The error that came instead is the cause.
    """

    def __init__(self, path: str, expected: str, place: str | None) -> None:
        super().__init__(path, expected)
        self.path = path
        self.expected = expected
        self.place = place  # the module of the model where it came from


class NotJudged(Exception):
    """The sample says nothing about the training."""


class Sample:
    """
    The parts of a training on its first instances. Classes may help: a reader with a
    method `limit_to_sample` reads no more than so many instances or documents; a
    vocabulary with `of_sample` makes one that counts no text; a data loader with
    `config_of_sample` gives the config of one with small batches.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = config
        self.model: Model | None = None
        self.has_other_bilm = False
        self.is_cut = False  # the data have more instances, or may have
        self.metrics: dict[str, float] = {}  # of the validation
        self._instances: dict[str, list[Instance]] = {}
        self._readers: dict[str, DatasetReader] = {}

    def step(self, size: int) -> None:
        """
        A step of training, without gradients, and one of validation. Raises `Failed` at
        the first part that cannot be constructed or used, and `NotJudged` if the sample
        says nothing.
        """
        for key in REQUIRED:
            if self._config.get(key) is None:
                raise NotJudged
        self._read("train", size)
        if self._config.get("validation_data_path") is not None:
            self._read("validation", size)
        self.model = self._construct_model(self._vocabulary())
        for split in self._readers:
            self._forward(split, self.model)

    def _read(self, split: str, size: int) -> None:
        """Reads the first instances of the training or the validation data."""
        path = f"{split}_data_path"
        key = self._key_of(split, "dataset_reader")
        data = self._config.get(path)
        for _, name in strings("", data):
            if _is_elsewhere(name):
                raise NotJudged
        reader = self._readers.get("train")
        if reader is None or key != "dataset_reader":
            with _expecting(key, "a reader that can be constructed"):
                reader = self._construct_reader(key)
        if isinstance(reader, MultiTaskDatasetReader):
            raise NotJudged
        if hasattr(reader, "limit_to_sample"):
            reader.limit_to_sample(size)
            self.is_cut = True
        with _expecting(path, "instances that can be read"):
            found = list(islice(reader.read(data), size))
        self.is_cut |= len(found) == size
        self._instances[split] = found
        self._readers[split] = reader

    def _construct_reader(self, key: str) -> DatasetReader:
        options = self._part(key, DatasetReader)
        if _is_remote(options):
            raise NotJudged
        return DatasetReader.from_params(_params(key, options), **GIVEN_BY_TRAINING)

    def _vocabulary(self) -> Vocabulary:
        key = "vocabulary"
        with _expecting(key, "a vocabulary that can be constructed"):
            options = self._part(key, Vocabulary)
            if _is_remote(options):
                raise NotJudged
            cls, _ = Vocabulary.resolve_class_name(options["type"])
            if hasattr(cls, "of_sample"):
                return cls.of_sample()
            for unfit in NOT_IN_VOCABULARY:
                options.pop(unfit, None)
            every = [one for part in self._instances.values() for one in part]
            return Vocabulary.from_params(
                _params(key, options), instances=every, **GIVEN_BY_TRAINING
            )

    def _construct_model(self, vocab: Vocabulary) -> Model:
        given = self._config.get("model")
        options = _without_files(copy.deepcopy(given))
        if _is_remote(options):
            raise NotJudged
        self.has_other_bilm = _is_remote(given)
        with (
            _expecting("model", "a model that can be constructed"),
            parameters_of_at_most(MOST_BYTES, MOST_PARAMETERS),
        ):
            return Model.from_params(
                _params("model", options), vocab=vocab, **GIVEN_BY_TRAINING
            )

    def _forward(self, split: str, model: Model) -> None:
        key = self._key_of(split, "data_loader")
        with _expecting(key, "a data loader that makes a batch"):
            batch = self._batch(split, self._part(key, DataLoader), model.vocab)
        is_training = split == "train"
        model.train(is_training)
        step = "training" if is_training else "validation"
        with (
            _expecting("model", f"a step of {step} on the first instances", model),
            torch.no_grad(),
        ):
            model(**batch)
            if not is_training:
                self.metrics = model.get_metrics(reset=True)

    def _batch(
        self, split: str, options: dict[str, Any], vocab: Vocabulary
    ) -> dict[str, Any]:
        """The tensors of a batch, as the config's data loader makes it."""
        cls, _ = DataLoader.resolve_class_name(options["type"])
        reader = self._readers[split]
        instances = self._instances[split][:BATCH]
        if hasattr(cls, "config_of_sample"):
            options = cls.config_of_sample(options)
        elif not instances:
            raise NotJudged
        elif issubclass(cls, MultiProcessDataLoader):
            for unfit in NOT_IN_LOADER:
                options.pop(unfit, None)
            reader = _FirstInstances(reader, instances)
        else:
            batch = Batch(instances)
            batch.index_instances(vocab)
            return dict(batch.as_tensor_dict())
        loader = DataLoader.from_params(
            _params(self._key_of(split, "data_loader"), options),
            reader=reader,
            data_path=self._config[f"{split}_data_path"],
            **GIVEN_BY_TRAINING,
        )
        loader.index_with(vocab)
        for tensors in loader:
            return dict(tensors)
        raise NotJudged

    def _key_of(self, split: str, key: str) -> str:
        """The key of a part, which validations may have for themselves."""
        own = f"validation_{key}"
        is_own = split == "validation" and self._config.get(own) is not None
        return own if is_own else key

    def _part(self, key: str, base: Any) -> dict[str, Any]:
        """The options of a part of the config, with its type if that has a default."""
        given = copy.deepcopy(self._config.get(key)) or {}
        if isinstance(given, str):
            given = {"type": given}
        options = dict(given)
        if base.default_implementation is not None:
            options.setdefault("type", base.default_implementation)
        return options


class _FirstInstances(DatasetReader):
    """
    A reader that yields the instances it is given, and indexes them as the config's
    reader does.
    """

    def __init__(self, reader: DatasetReader, instances: Sequence[Instance]) -> None:
        super().__init__()
        self._reader = reader
        self._instances = instances

    @overrides
    def _read(self, file_path: Any) -> Iterator[Instance]:
        yield from self._instances

    @overrides
    def apply_token_indexers(self, instance: Instance) -> None:
        self._reader.apply_token_indexers(instance)


def _params(key: str, options: Any) -> Params:
    """With the key for errors."""
    return Params({key: options}).pop(key)


@contextmanager
def _expecting(
    path: str, expected: str, model: nn.Module | None = None
) -> Iterator[None]:
    """Raises `Failed` from any error that says something about the config."""
    try:
        yield
    except (NotJudged, NotAllowed, TooLarge):
        raise
    except Exception as error:
        place = None if model is None else _module_of(error, model)
        raise Failed(path, expected, place) from error


def _module_of(error: Exception, model: nn.Module) -> str | None:
    """The name of the innermost module of a model that the error passed through."""
    names = {id(module): name for name, module in model.named_modules()}
    found = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        name = names.get(id(frame.f_locals.get("self")))
        if name:  # that of the whole model is empty
            found = name
    return found


def _without_files(value: Any) -> Any:
    """
    A part of the config without vectors, and with the bundled biLM in place of one
    that would be fetched.
    """
    if isinstance(value, dict):
        dropped = set(NOT_IN_MODEL)
        if value.get("source") is None and _reads_remote(value):
            dropped.update((*FILE_KEYS, "pieces"))  # the biLM has no word pieces
        kept_keys = [key for key in value if key not in dropped]
        return {key: _without_files(value[key]) for key in kept_keys}
    if isinstance(value, list):
        kept = [part for part in value if not _reads_weights(part)]
        return [_without_files(part) for part in kept]
    return value


def _reads_weights(value: Any) -> bool:
    """
    Whether this is a regex with AllenNLP's initializer from a file, whose sizes are
    those of a whole vocabulary.
    """
    if not isinstance(value, list) or len(value) != 2:
        return False
    _, initializer = value
    return isinstance(initializer, dict) and initializer.get("type") == "pretrained"


def _reads_remote(elmo: dict[str, Any]) -> bool:
    """Whether the model of a biLM, or else its weights, would be fetched."""
    model = elmo.get("model")
    if model is None:
        return _is_remote(elmo.get("weight_file"))
    return _is_remote(model)


def _is_remote(value: Any) -> bool:
    """
    Whether a part of the config names what would be fetched: a URL, a published model,
    a transformer.
    """
    for path, text in strings("", value):
        if "://" in text or published(text) is not None:
            return True
        if path.endswith("model_name") and not Path(text).exists():
            return True
    return False


def _is_elsewhere(data: str) -> bool:
    """
    Whether data would be fetched or unpacked, or can be read only once, from a pipe or
    a device.
    """
    path = Path(data)
    is_read_once = path.exists() and not path.is_file() and not path.is_dir()
    return is_read_once or "!" in data or REMOTE.match(data) is not None
