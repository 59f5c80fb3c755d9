"""
`check` constructs a config as a training does, with the first instances of its data, on
the CPU, in a temporary folder. Then it makes a step and an evaluation.

Nothing is fetched, logged or left, and random numbers go on as if nothing had happened.
What would be fetched, or can be read only once, is left out.
"""

import copy
import io
import logging
import os
import re
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, NamedTuple

import torch
from allennlp.common import Params
from allennlp.common.checks import check_for_gpu
from allennlp.data import DataLoader, DatasetReader, Instance, Vocabulary
from allennlp.data.dataset_readers import MultiTaskDatasetReader
from allennlp.evaluation import Evaluator
from allennlp.models import Model
from allennlp.training import GradientDescentTrainer, Trainer

from elmo_tasks.errors import InputError, one_line, shown
from elmo_tasks.formats.fetching.fetch import hub_model, is_hub_model, local_path
from elmo_tasks.formats.fetching.published import published
from elmo_tasks.settings import Limits, wrong_values
from elmo_tasks.system.run_names import CONFIG
from elmo_tasks.training.archives.registered_names import unsafe_keys
from elmo_tasks.training.checks.keys import Distributed, wrong_keys
from elmo_tasks.training.config import get, items, strings, write_out_types
from elmo_tasks.training.data.subsampling import SHARE_LOADER
from elmo_tasks.training.folder import DATA_PATHS, REMOTE, VECTORS
from elmo_tasks.training.metrics import Metric, metric_of
from elmo_tasks.training.parts import constructing, params_of
from elmo_tasks.training.resume.resumable import random_state, set_random_state

SIZES = (20, 1000)
"""
Numbers of instances: if the first ones fail, they may lack labels that later ones have.
"""

PARTS = (
    "dataset_reader",
    "validation_dataset_reader",
    *DATA_PATHS,
    "vocabulary",
    "model",
)
"""The parts of a config whose construction reads what they name."""

_MODEL_KEYS = ("model", "bilm")
"""Keys whose value, if it is a string, is the name of a model."""

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
"""`owner/name` of the hub, without `hf://`."""


class Checked(NamedTuple):
    """
    The problems of a config, a line for each; the keys of what was not constructed, and
    why; and the metrics of the evaluation, if there was one.
    """

    problems: list[str]
    left_out: dict[str, str]
    metrics: dict[str, float]


def check(given: Mapping[str, Any]) -> Checked:
    """
    The problems of a resolved config: wrong keys, or else the error of the first part
    that cannot be constructed.
    """
    config = Params(copy.deepcopy(dict(given))).as_dict(quiet=True)
    write_out_types(config)
    problems = [*wrong_keys(config), *map(str, unsafe_keys(config))]
    found = left_out(config)
    metrics: dict[str, float] = {}
    if not problems:
        incomplete = without(config, found)
        try:
            metrics = _construct(config, incomplete)
        except InputError as error:
            problems.append(str(error))
    return Checked(problems, found, metrics)


def left_out(config: Mapping[str, Any]) -> dict[str, str]:
    """The keys of what is not constructed, and why."""
    found = {}
    for part in PARTS:
        for path, name in strings(part, config.get(part)):
            is_kept = os.path.isfile(name) or os.path.isdir(name)
            if _would_be_fetched(path, name, config):
                found[path] = "would be fetched"
            elif part in DATA_PATHS and os.path.exists(name) and not is_kept:
                found[path] = "can be read only once"
    return found


def without(config: dict[str, Any], paths: Mapping[str, str]) -> set[str]:
    """
    Removes vectors and the ELMo of a task model, without which the model can be
    constructed, from a config. Returns the other parts that these paths are in.
    """
    incomplete = set()
    has_words = get(config, "model.word_vectors") is not False
    for path in paths:
        owner, _, key = path.rpartition(".")
        part, *_ = path.split(".")
        if VECTORS.fullmatch(path):
            del get(config, owner)[key]
        elif path.startswith("model.elmo.") and has_words:
            config["model"]["elmo"] = None
        else:
            incomplete.add(part)
    return incomplete


def _would_be_fetched(path: str, name: str, config: Mapping[str, Any]) -> bool:
    """Whether this is a URL or a name that is not on this machine yet."""
    owner, _, key = path.rpartition(".")
    is_named = key == "model_name" or (
        key == "model" and get(config, f"{owner}.source")
    )
    model = published(name) if key in _MODEL_KEYS else None
    try:
        if model is not None:
            local_path(model.files[-1], offline=True)
        elif is_hub_model(name):
            hub_model(name, ["*"], offline=True)
        elif REMOTE.search(name):
            local_path(name, offline=True)
        elif is_named and _HUB_NAME.fullmatch(name) and not os.path.exists(name):
            hub_model(name, ["*"], offline=True)
    except InputError:
        return True
    return False


class _NotConstructed(Exception):
    """A part of the config is left out, and with it what needs it."""


def _construct(config: dict[str, Any], incomplete: set[str]) -> dict[str, float]:
    """
    The metrics of the evaluation. If there is an error on the smaller sample and none
    on the larger, there is none.
    """
    problem: Any = None
    for size in SIZES:
        folder = tempfile.TemporaryDirectory(prefix="elmo_tasks_check_")
        with _quiet(), folder as name:
            Params(config).to_file(f"{name}/{CONFIG}")  # which some callbacks read
            trial = _Trial(config, incomplete, name, size)
            try:
                trial.construct()
                return trial.evaluate()
            except _NotConstructed:
                return {}
            except InputError as error:
                problem = problem or error
                cause = error.__cause__
                if cause is None or one_line(cause) is not None:  # not of the sample
                    break
    raise problem


class _Trial:
    """A training on the first `size` instances of its data."""

    def __init__(
        self,
        config: Mapping[str, Any],
        incomplete: set[str],
        folder: str,
        size: int,
    ) -> None:
        self._config = copy.deepcopy(dict(config))
        _change_for_sample(self._config, size, folder)
        self._incomplete = incomplete
        self._given = {"serialization_dir": folder, "local_rank": 0}
        self._size = size
        self._loaders: dict[str, DataLoader] = {}
        self._trainer: Trainer | None = None

    def construct(self) -> None:
        """As AllenNLP's training does."""
        for key, cls in (("distributed", Distributed), ("evaluation", Evaluator)):
            if self._config.get(key) is not None:
                self._part(key, cls)
        vocabulary = self._part("vocabulary", Vocabulary, instances=self._read())
        known = vocabulary.get_namespaces()
        for namespace, _ in items(get(self._config, "vocabulary.max_vocab_size")):
            if namespace not in known:
                names = ", ".join(sorted(known))
                raise InputError(
                    f"vocabulary.max_vocab_size: expected one of {names},"
                    f" got {shown(namespace)}"
                )
        model = self._part("model", Model, vocab=vocabulary, offline=True)
        with constructing("vocabulary"):
            for loader in self._loaders.values():
                loader.index_with(model.vocab)
        self._use_cpu()
        self._trainer = self._part(
            "trainer",
            Trainer,
            model=model,
            data_loader=self._loaders["train"],
            validation_data_loader=self._loaders.get("validation"),
        )

    def evaluate(self) -> dict[str, float]:
        """The metrics of an evaluation after a step, if AllenNLP's trainer trains."""
        trainer = self._trainer
        if not isinstance(trainer, GradientDescentTrainer):
            return {}
        model = trainer.model.train()
        batch = self._batch("train")
        if batch is not None:
            with constructing("model", "in a step of training"):
                trainer.batch_outputs(batch, for_training=True)["loss"].backward()
                trainer.optimizer.step()
        model.get_metrics(reset=True)
        batch = self._batch("validation")
        if batch is None:
            return {}
        with constructing("model", "in an evaluation"), torch.no_grad():
            model.eval()
            outputs = trainer.batch_outputs(batch, for_training=False)
            loss = float(outputs.get("loss", 0.0))
            metrics = {"loss": loss, **model.get_metrics(reset=True)}
        weight = self._config.get("batch_weight_key")
        if weight and weight not in outputs:
            names = ", ".join(outputs)
            raise InputError(
                f"batch_weight_key: expected one of {names}, got {shown(weight)}"
            )
        with constructing("trainer.validation_metric"):
            tracker = trainer._metric_tracker
            for sign, name in tracker.tracked_metrics:
                metric = metric_of(name)
                if metric != Metric() and metric.higher_is_better != (sign > 0):
                    mark = "+" if sign > 0 else "-"
                    raise InputError(
                        f"expected + before a score, - before a loss, got {mark}{name}"
                    )
            # Not for those of labels, some of which lack here.
            if not any("-" in name for _, name in tracker.tracked_metrics):
                tracker.add_metrics(metrics)
        return metrics

    def _part(self, key: str, cls: Any, **extras: Any) -> Any:
        """The object that the config has under a key."""
        if key in self._incomplete:
            raise _NotConstructed
        with constructing(key):
            return cls.from_params(
                params_of(self._config, key), **self._given, **extras
            )

    def _read(self) -> list[Instance]:
        """The first instances of all data. Constructs readers and data loaders."""
        reader = self._part("dataset_reader", DatasetReader)
        readers = {"train": reader}
        if self._config.get("validation_dataset_reader") is not None:
            reader = self._part("validation_dataset_reader", DatasetReader)
        readers.update(validation=reader, test=reader)
        found: list[Instance] = []
        for split, reader in readers.items():
            key = f"{split}_data_path"
            path = self._config.get(key)
            if key in self._incomplete:
                raise _NotConstructed
            if split != "train" and path is None:
                continue
            with constructing(key):
                instances = _first(reader, path, self._size)
            found += instances
            self._loaders[split] = self._loader(split, reader, path, instances)
        for split in self._config.get("datasets_for_vocab_creation") or ():
            if split not in self._loaders:
                wanted = f"expected some of {', '.join(self._loaders)}"
                problem = f"datasets_for_vocab_creation: {wanted}, got {shown(split)}"
                raise InputError(problem)
        return found

    def _loader(
        self, split: str, reader: DatasetReader, path: Any, instances: list[Instance]
    ) -> DataLoader:
        """A data loader. Without processes of its own, it does not read a file again."""
        key = self._key_of_loader(split)
        is_divided = get(self._config, f"{key}.type") == SHARE_LOADER
        if is_divided and split != "train" and key == "data_loader":
            raise InputError(
                f"validation_data_loader: expected one beside {SHARE_LOADER}",
                hint="it would read a part of these data, too",
            )
        if instances and not get(self._config, f"{key}.num_workers"):
            reader = copy.copy(reader)
            vars(reader)["_read"] = lambda _: instances
        loader = self._part(key, DataLoader, reader=reader, data_path=path)
        if hasattr(loader, "use_few_rows"):
            loader.use_few_rows()
        return loader

    def _batch(self, split: str) -> Any:
        """The first batch of a split; `None` without data or without a whole batch."""
        loader = self._loaders.get(split)
        if loader is None:
            return None
        with constructing(self._key_of_loader(split)):
            return next(iter(loader), None)

    def _key_of_loader(self, split: str) -> str:
        if split != "train" and self._config.get("validation_data_loader") is not None:
            return "validation_data_loader"
        return "data_loader"

    def _use_cpu(self) -> None:
        """Train on the CPU, where this machine has the devices of the config."""
        trainer = self._config.get("trainer")
        if not isinstance(trainer, dict):
            return
        path = "trainer.cuda_device"
        if self._config.get("distributed") is not None:
            path = "distributed.cuda_devices"
        with constructing(path):
            check_for_gpu(get(self._config, path))
        if trainer.get("cuda_device") != -1 and torch.cuda.device_count():
            trainer.pop("use_amp", None)
        trainer["cuda_device"] = -1


def _change_for_sample(config: dict[str, Any], size: int, folder: str) -> None:
    """
    Has a data loader drop no instances, ELMo write to no cache, and only words of the
    first instances read: vectors, and those that a language model counts.
    """
    embedders = get(config, "model.text_field_embedder.token_embedders")
    for embedder in [get(config, "model.elmo"), *dict(items(embedders)).values()]:
        if get(embedder, "keep_all_pretrained") is True:
            embedder["keep_all_pretrained"] = False
        if isinstance(get(embedder, "cache_dir"), str):
            embedder["cache_dir"] = f"{folder}/layers"
    for key in ("data_loader", "validation_data_loader"):
        for path in (key, f"{key}.batch_sampler"):
            options = get(config, path)
            if isinstance(options, dict) and options.get("drop_last") is True:
                options["drop_last"] = False
        if not wrong_values("part", Limits, get(config, f"{key}.part")):
            del config[key]["part"]
    vocabulary = config.setdefault("vocabulary", {})
    if get(vocabulary, "files") is not None:
        reader = vocabulary.setdefault("reader", {"type": "elmo_tasks_lm"})
        if isinstance(reader, dict):
            reader["max_instances"] = size


def _first(reader: DatasetReader, path: Any, size: int) -> list[Instance]:
    """The first instances of data; those of each task, if there are several."""
    if not isinstance(path, str | list | dict) or not path:
        raise InputError(f"expected a path, got {shown(path)}")
    if isinstance(reader, MultiTaskDatasetReader):
        found = []
        for task, part in reader.readers.items():
            found += _first(part, path[task], size)
        return found
    if reader.max_instances is None or reader.max_instances > size:
        reader.max_instances = size
    return list(reader.read(path))


@contextmanager
def _quiet() -> Iterator[None]:
    """
    Without messages, warnings and progress bars, and with the random state left as it
    was.
    """
    state, disabled = random_state(), logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    unread = io.StringIO()
    try:
        with (
            warnings.catch_warnings(),
            redirect_stdout(unread),
            redirect_stderr(unread),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)
        set_random_state(state)
