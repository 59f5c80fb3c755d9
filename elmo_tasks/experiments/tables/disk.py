"""
What the layer cache of a table will take on disk, from the sentences of its data.
"""

import copy
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from allennlp.common import Params
from allennlp.data import DataLoader, DatasetReader, Field, TokenIndexer, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.fields import ListField, TextField

from elmo_tasks.elmo.cache import (
    CacheSettings,
    LayerCache,
    cached_sentences,
    token_bytes,
)
from elmo_tasks.elmo.layers import load_source
from elmo_tasks.elmo.model_files import files_of
from elmo_tasks.elmo.source_types import SourceSettings
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables.runs import Run, cache_folder, elmo_of
from elmo_tasks.nn.input_encoder import CHARACTERS

DATA_KEYS = (
    "dataset_reader",
    "validation_dataset_reader",
    "data_loader",
    "validation_data_loader",
    "train_data_path",
    "validation_data_path",
)
"""The keys of a config that decide which sentences a training reads."""

LAZILY = {"max_instances_in_memory": 10**9, "num_workers": 0, "quiet": True}
"""Has a data loader read one instance after the other, and keep none."""

Sentences = dict[bytes, int]
"""The tokens of each distinct sentence, by its key in the cache."""


@dataclass(frozen=True)
class Cached:
    """
    What a run stores in the layer cache: the layers of `sentences`, a token taking
    `token_bytes`, in the file or under the name `source`.
    """

    source: str
    token_bytes: int
    sentences: Sentences

    @property
    def tokens(self) -> int:
        return sum(self.sentences.values())

    @property
    def size(self) -> int:
        """In bytes, without what the database adds."""
        return self.tokens * self.token_bytes


class DiskCounter:
    """
    Counts what runs store in the layer cache. Data that several runs read are read
    once, and their layers, if they have the same source, are counted once.
    """

    def __init__(self) -> None:
        self._sources: dict[str, tuple[str, int]] = {}
        self._data: dict[str, Sentences] = {}
        self._stored: dict[str, Sentences] = defaultdict(dict)
        self._token_bytes: dict[str, int] = {}

    def count(self, run: Run) -> Cached | None:
        """
        The most that a run can store, with any seed; `None` if it stores nothing. A
        run that stops early can store less. Raises `InputError` if files are missing or
        invalid, or if the data loader is not AllenNLP's own.
        """
        if not run.plan["cached"] or run.plan["ensemble"]:
            return None
        source, width = self._source(run)
        sentences = self._sentences(run.plan["config"])
        self._stored[source].update(sentences)
        self._token_bytes[source] = width
        return Cached(source, width, sentences)

    def total(self) -> int:
        """The bytes of all that was counted."""
        size = 0
        for source, sentences in self._stored.items():
            size += self._token_bytes[source] * sum(sentences.values())
        return size

    def _source(self, run: Run) -> tuple[str, int]:
        """Where the layers of a run's source are stored, and the bytes of a token."""
        elmo = elmo_of(run.plan["config"]) or {}
        settings = SourceSettings.of(elmo)
        key = repr(settings)
        if key not in self._sources:
            files = files_of(settings)
            source = load_source(settings.of_kind(files.kind), files)
            folder = CacheSettings(cache_dir=str(cache_folder(run.home)))
            file = LayerCache(folder, files, read_only=True).place(source)
            self._sources[key] = (str(file), token_bytes(source))
        place, width = self._sources[key]
        if run.plan["bilm_of"]:  # tuned, so not this source, but of the same size
            return run.plan["bilm_of"], width
        return place, width

    def _sentences(self, config: dict[str, Any]) -> Sentences:
        """Those of the training and the validation data."""
        parts = {key: config.get(key) for key in DATA_KEYS}
        known = json.dumps(parts, sort_keys=True)
        if known not in self._data:
            found: Sentences = {}
            for field in _fields(config):
                found.update(_of_field(field))
            self._data[known] = found
        return self._data[known]


def _fields(config: dict[str, Any]) -> Iterator[Field]:
    """The fields of all instances that a training reads."""
    reader = config.get("dataset_reader")
    loader = config.get("data_loader")
    own_reader = config.get("validation_dataset_reader") or reader
    own_loader = config.get("validation_data_loader") or loader
    yield from _fields_of(reader, loader, config["train_data_path"])
    if config.get("validation_data_path") is not None:
        yield from _fields_of(own_reader, own_loader, config["validation_data_path"])


def _fields_of(reader: Any, loader: Any, data: Any) -> Iterator[Field]:
    """The fields of the instances in one of the files; the config stays as it is."""
    reader = copy.deepcopy(reader)
    options = copy.deepcopy(dict(loader or {}))
    kind = options.get("type", DataLoader.default_implementation)
    cls, _ = DataLoader.resolve_class_name(kind)
    if not issubclass(cls, MultiProcessDataLoader):
        raise InputError(f"sentences of the data loader {kind} cannot be counted")
    opened = DataLoader.from_params(
        Params(options | LAZILY),
        reader=DatasetReader.from_params(Params({"reader": reader}).pop("reader")),
        data_path=data,
    )
    for instance in opened.iter_instances():
        yield from instance.fields.values()


def _of_field(field: Field) -> Sentences:
    """The sentences of a text field, or of a list of text fields, that ELMo embeds."""
    found: Sentences = {}
    parts = field if isinstance(field, ListField) else [field]
    for part in parts:
        if not isinstance(part, TextField) or CHARACTERS not in part.token_indexers:
            continue
        indexer: TokenIndexer = part.token_indexers[CHARACTERS]
        indexed = indexer.tokens_to_indices(part.tokens, Vocabulary())
        lengths = indexer.get_padding_lengths(indexed)
        for ids in indexer.as_padded_tensor_dict(indexed, lengths).values():
            found.update(cached_sentences(ids[None]))
    return found
