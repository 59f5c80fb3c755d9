"""
The training of a config on the first instances of its data: its parts, a step, and an
evaluation.
"""

import copy
import os
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from allennlp.commands.train import TrainModel
from allennlp.common import Lazy, Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DataLoader, DatasetReader, Instance, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.dataset_readers import MultiTaskDatasetReader
from allennlp.models import Model
from allennlp.training import GradientDescentTrainer
from overrides import overrides

from elmo_tasks.elmo.allocation import parameters_of_at_most
from elmo_tasks.elmo.sources.types import FILE_KEYS
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.published import published
from elmo_tasks.formats.vector_files import read_vectors
from elmo_tasks.training.checks.files import REMOTE
from elmo_tasks.training.data.samples import (
    SampledLoader,
    SampledReader,
    SampledVocabulary,
)
from elmo_tasks.training.nested import items, strings

BATCH = 2
"""Instances of a batch."""

MOST_BYTES, MOST_PARAMETERS = 2**30, 100_000
"""Of a model that is constructed; a larger one takes too long."""

NOT_IN_MODEL = {"pretrained_file": str, "keep_all_pretrained": bool}
"""
Keys that decide what parameters contain, and not their names; and the type of their
values, since others are errors.
"""

WORD_VECTORS = "elmo_tasks_word_vectors"
"""The embedder whose vectors are read."""

NOT_IN_VOCABULARY = (
    "pretrained_files",  # which may be large
    "only_include_pretrained_words",
    "min_pretrained_embeddings",
)

NOT_IN_SMALL_LOADER = (
    "batches_per_epoch",
    "drop_last",
    "max_instances_in_memory",
)

READERS = ("dataset_reader", "validation_dataset_reader")
LOADERS = ("data_loader", "validation_data_loader")

GIVEN_BY_TRAINING: dict[str, Any] = {"serialization_dir": None, "local_rank": 0}
"""What a training passes to the parts of a config; readers get no folder here."""


class NotJudged(Exception):
    """The sample says nothing about the training."""


class Sample:
    """
    The training of a config on its first instances.

    `path` is the part of the config that is tried, and `expected` what is expected of
    it, if it is more than to be constructed.
    """

    def __init__(self, config: Mapping[str, Any], size: int) -> None:
        self._config = config
        self._size = size
        self.path = ""
        self.expected = ""
        self.training: TrainModel | None = None
        self.has_other_bilm = _is_remote(config.get("model"))
        self.metrics: dict[str, float] = {}  # of the evaluation
        self._readers: dict[str, DatasetReader] = {}

    @property
    def model(self) -> Model | None:
        """The model of the config, if it could be constructed."""
        return None if self.training is None else self.training.model

    def construct(self, folder: str) -> None:
        """
        The whole training, as AllenNLP's command constructs it, with this folder.
        Raises `NotJudged` if that would read what is not on this machine.
        """
        for key in ("train_data_path", "validation_data_path", "test_data_path"):
            for _, name in strings("", self._config.get(key)):
                if _is_elsewhere(name):
                    raise NotJudged
        options = copy.deepcopy(dict(self._config))
        for key in READERS:
            if options.get(key) is not None:
                self._readers[key] = self._reader(key, options.pop(key))
        given: dict[str, Any] = dict(self._readers)
        if options.get("vocabulary") is not None:
            made = self._vocabulary(options["vocabulary"])
            if made is not None:
                given["vocabulary"] = made
                del options["vocabulary"]
        for key in LOADERS:
            if isinstance(options.get(key), dict):
                options[key] = _loader_of_sample(options[key])
        with self._trying("model"):
            _check_vectors(options["model"])
        options["model"] = _without_files(options["model"], folder)
        if _is_remote(options["model"]):
            raise NotJudged
        if isinstance(options["trainer"], dict):
            options["trainer"] = _on_cpu(options["trainer"])
        with self._trying(""), parameters_of_at_most(MOST_BYTES, MOST_PARAMETERS):
            self.training = TrainModel.from_params(
                Params(options),
                serialization_dir=folder,
                local_rank=0,
                offline=True,
                **given,
            )

    def _reader(self, key: str, options: Any) -> DatasetReader:
        if _is_remote(options):
            raise NotJudged
        with self._trying(key):
            reader = DatasetReader.from_params(
                _params(key, options), **GIVEN_BY_TRAINING
            )
        _limit(reader, self._size)
        return reader

    def _vocabulary(self, options: Any) -> Lazy[Vocabulary] | None:
        """
        A vocabulary that reads files, without what takes long; `None` for one that
        AllenNLP may construct, whose options are changed.
        """
        if _is_remote(options):
            raise NotJudged
        if not isinstance(options, dict):
            return None
        for key in NOT_IN_VOCABULARY:
            options.pop(key, None)
        counts = options.get("min_count")
        if isinstance(counts, dict):  # no word is frequent among few instances
            options["min_count"] = {key: _at_most_one(counts[key]) for key in counts}
        cls = _class_of(Vocabulary, options)
        if cls is None or not issubclass(cls, SampledVocabulary):
            return None
        own = _params("vocabulary", {**options})
        own.pop("type")
        with self._trying("vocabulary"):
            made = cls.from_params(
                own,
                constructor_to_call=cls.of_sample,
                constructor_to_inspect=cls.of_sample,
            )
        return Lazy(lambda **_: made)

    def step(self) -> None:
        """
        A step of training and an evaluation, of one batch each, if AllenNLP's trainer
        makes them.
        """
        trainer = None if self.training is None else self.training.trainer
        if not isinstance(trainer, GradientDescentTrainer):
            return
        model = trainer.model
        reader = self._readers["dataset_reader"]
        batch = self._batch("data_loader", trainer.data_loader, reader)
        with self._trying("model", "a step of training on the first instances"):
            model.train()
            loss = trainer.batch_outputs(batch, for_training=True)["loss"]
            loss.backward()
            trainer.optimizer.step()
        loader = trainer._validation_data_loader
        if loader is None:
            return
        key = "validation_data_loader"
        if self._config.get(key) is None:
            key = "data_loader"
        reader = self._readers.get("validation_dataset_reader", reader)
        batch = self._batch(key, loader, reader)
        with (
            self._trying("model", "a step of validation on the first instances"),
            torch.no_grad(),
        ):
            model.get_metrics(reset=True)
            model.eval()
            trainer.batch_outputs(batch, for_training=False)
            self.metrics = model.get_metrics(reset=True)

    def _batch(
        self, key: str, loader: DataLoader, reader: DatasetReader
    ) -> dict[str, Any]:
        """A small batch as the loader of the config makes it."""
        options = self._config[key]
        if isinstance(options, str):
            options = {"type": options}
        cls = _class_of(DataLoader, options)
        with self._trying(key, "a batch of the first instances"):
            instances = list(islice(loader.iter_instances(), BATCH))
            is_allennlps = cls is not None and issubclass(cls, MultiProcessDataLoader)
            if instances and is_allennlps and self.model is not None:
                few = _FirstInstances(reader, instances)
                loader = _small_loader(key, options, few)
                loader.index_with(self.model.vocab)
            for tensors in loader:
                return dict(tensors)
        raise NotJudged

    def module_of(self, error: BaseException) -> str | None:
        """The innermost module of the model that an error has passed through."""
        if self.model is None:
            return None
        names = {id(module): name for name, module in self.model.named_modules()}
        found = None
        for frame, _ in traceback.walk_tb(error.__traceback__):
            name = names.get(id(frame.f_locals.get("self")))
            if name:  # that of the whole model is empty
                found = name
        return found

    @contextmanager
    def _trying(self, path: str, expected: str = "") -> Iterator[None]:
        self.path = path
        self.expected = expected
        yield
        self.path = ""
        self.expected = ""


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


def _class_of(base: Any, options: Mapping[str, Any]) -> Any:
    """The class that options name; `None` if there is none of this name."""
    name = options.get("type", base.default_implementation)
    try:
        cls, _ = base.resolve_class_name(name)
    except (ConfigurationError, TypeError, ImportError, ValueError):
        return None
    return cls


def _limit(reader: DatasetReader, size: int) -> None:
    """Have a reader read so many instances at most."""
    if isinstance(reader, MultiTaskDatasetReader):
        for part in reader.readers.values():
            _limit(part, size)
        return
    if isinstance(reader, SampledReader):
        reader.limit_to_sample(size)
    most = reader.max_instances
    if most is None or most > size:
        reader.max_instances = size


def _at_most_one(value: Any) -> Any:
    is_valid = isinstance(value, int) and value >= 1
    return 1 if is_valid else value


def _loader_of_sample(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a data loader that starts no processes."""
    cls = _class_of(DataLoader, options)
    if cls is not None and issubclass(cls, SampledLoader):
        options = cls.config_of_sample(options)
    workers = options.get("num_workers")
    if isinstance(workers, int) and workers > 0:
        options["num_workers"] = 0
    options.pop("cuda_device", None)
    return options


def _small_loader(
    key: str, options: Mapping[str, Any], reader: DatasetReader
) -> DataLoader:
    """A loader with the options of the config, for few instances."""
    small = _loader_of_sample(copy.deepcopy(dict(options)))
    for unfit in NOT_IN_SMALL_LOADER:
        small.pop(unfit, None)
    return DataLoader.from_params(_params(key, small), reader=reader, data_path="")


def _on_cpu(trainer: dict[str, Any]) -> dict[str, Any]:
    """The options of a trainer, on the CPU, which has no `use_amp`."""
    options = {**trainer, "cuda_device": -1}
    if trainer.get("cuda_device") != -1 and trainer.get("use_amp") is True:
        del options["use_amp"]
    return options


def _check_vectors(options: Any) -> None:
    """
    Raises `InputError` if the first vector of a file is not as wide as the config says.
    The file is not read further, and the model is constructed without it.
    """
    if isinstance(options, dict) and options.get("type") == WORD_VECTORS:
        file = options.get("pretrained_file")
        width = options.get("embedding_dim")
        if isinstance(file, str) and isinstance(width, int) and width > 0:
            try:
                next(read_vectors(file, width=width), None)
            except InputError as error:
                raise InputError(f"{error}, for embedding_dim {width}") from None
    for _, part in items(options):
        _check_vectors(part)


def _without_files(value: Any, folder: str) -> Any:
    """
    A part of the config without vectors, with a cache in this folder, and with the
    bundled biLM in place of one that would be fetched.
    """
    if isinstance(value, dict):
        dropped = set()
        for key, kind in NOT_IN_MODEL.items():
            if isinstance(value.get(key), kind):
                dropped.add(key)
        if value.get("source") is None and _reads_remote(value):
            dropped.update((*FILE_KEYS, "pieces"))  # the biLM has no word pieces
        kept_keys = [key for key in value if key not in dropped]
        kept = {key: _without_files(value[key], folder) for key in kept_keys}
        if isinstance(value.get("cache_dir"), str):
            kept["cache_dir"] = os.path.join(folder, "layers")
        return kept
    if isinstance(value, list):
        parts = [part for part in value if not _reads_weights(part)]
        return [_without_files(part, folder) for part in parts]
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
    if os.path.exists(data):
        return not os.path.isfile(data) and not os.path.isdir(data)
    return "!" in data or REMOTE.match(data) is not None
