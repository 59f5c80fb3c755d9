"""Builds what a config describes on a handful of instances, and takes one step with it."""

import copy
import math
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from allennlp.commands.train import TrainModel
from allennlp.common import Params
from allennlp.common.util import prepare_environment
from allennlp.data import DataLoader, DatasetReader
from allennlp.nn.util import move_to_device

from elmo_tasks.checks.problem import Problem, nearest, shown
from elmo_tasks.checks.record import PATH, Record, recorded
from elmo_tasks.checks.regexes import regex_problems
from elmo_tasks.checks.schema import BESIDE_TRAINING
from elmo_tasks.checks.schema import SEEDS as ALL_SEEDS
from elmo_tasks.checks.signatures import keys_of
from elmo_tasks.checks.sizes import DimensionMismatch, told_misfit, watched
from elmo_tasks.checks.unused_keys import namespace_problems
from elmo_tasks.compat.devices import CPU, has_device
from elmo_tasks.compat.terminal import causes, one_line

INSTANCES = 8

SEED, *SEEDS = ALL_SEEDS


@dataclass
class Step:
    """
    # Parameters

    problems : `list[Problem]`
        What building and running brought to light.
    loss : `float`, optional
        Of the step, where there was one.
    """

    problems: list[Problem] = field(default_factory=list)
    loss: float | None = None


def take_step(config: dict[str, Any]) -> Step:
    """
    Reads some instances, builds model and trainer, runs the model forward and backward on one batch, and once on the
    validation data. Nothing is kept on disk.

    # Parameters

    config : `dict[str, Any]`
        Resolved; `shape_problems` has nothing to say about it.
    """
    step = Step()
    smaller = shrink_config(config)
    running: list[str] = []
    with recorded() as record, tempfile.TemporaryDirectory() as folder:
        try:
            beside = {key: smaller.pop(key) for key in BESIDE_TRAINING if key in smaller}
            prepare_environment(Params(_seeds(beside)))
            built = TrainModel.from_params(params=Params(smaller), serialization_dir=folder, local_rank=0)
            step.problems += namespace_problems(config, _namespaces(built.model.vocab))
            with watched(record, config) as running:
                step.problems += _run(built, config, step, running)
            step.problems += regex_problems(config, built.model, record)
        except DimensionMismatch as misfit:
            step.problems.append(misfit.problem)
        except Exception as error:
            step.problems += _failure(error, record, config, running)
    return step


def shrink_config(config: dict[str, Any]) -> dict[str, Any]:
    """The same with few instances, all in the vocabulary, small batches, one process, no GPU that is missing."""
    smaller = copy.deepcopy(config)
    smaller.pop("datasets_for_vocab_creation", None)  # a handful of one split lacks labels of the other
    for key in ("dataset_reader", "validation_dataset_reader"):
        _cut_reader(smaller, key)
    for key in ("data_loader", "validation_data_loader"):
        _cut_loader(smaller.get(key))
    trainer = smaller.get("trainer")
    if isinstance(trainer, dict) and trainer.get("cuda_device") is not None and not has_device(trainer["cuda_device"]):
        trainer["cuda_device"] = CPU
    _leave_rare_words_out(smaller.get("model"))
    return smaller


def _cut_reader(config: dict[str, Any], key: str) -> None:
    reader = config.get(key)
    reader = {"type": reader} if isinstance(reader, str) else reader
    if not isinstance(reader, dict) or reader.get("type") not in DatasetReader.list_available():
        return
    cls, constructor = DatasetReader.resolve_class_name(reader["type"])
    if "max_instances" in keys_of(cls, getattr(cls, constructor or "__init__")).parameters:
        given = reader.get("max_instances")
        config[key] = {**reader, "max_instances": min(INSTANCES, given) if given else INSTANCES}


def _cut_loader(loader: Any) -> None:
    """Batches of a handful; a last one that is not full is kept, since there may be no other."""
    if not isinstance(loader, dict):
        return
    if "num_workers" in loader:
        loader["num_workers"] = 0
    for part in (loader, loader.get("batch_sampler")):
        if isinstance(part, dict):
            part.pop("drop_last", None)
            if isinstance(part.get("batch_size"), int):
                part["batch_size"] = min(INSTANCES, part["batch_size"])
    if loader.get("type", DataLoader.default_implementation) == DataLoader.default_implementation:
        loader["quiet"] = True


def _leave_rare_words_out(part: Any) -> None:
    """Word vectors of words that are not in the data change nothing but the time."""
    if isinstance(part, dict):
        if part.get("type") == "elmo_tasks_word_vectors":
            part.pop("every_word", None)
        for value in part.values():
            _leave_rare_words_out(value)


def _seeds(beside: dict[str, Any]) -> dict[str, Any]:
    """AllenNLP's three, which `seed` sets all."""
    one = dict.fromkeys(SEEDS, beside[SEED]) if SEED in beside else {}
    return {**one, **{key: beside[key] for key in SEEDS if key in beside}}


def _run(built: TrainModel, config: dict[str, Any], step: Step, running: list[str]) -> Iterator[Problem]:
    trainer, model = built.trainer, built.model
    running[:] = ["data_loader"]
    batch = next(iter(trainer.data_loader), None)
    if batch is None:
        yield Problem(path="train_data_path", wanted="instances", found="none", kind="build")
        return
    running[:] = ["model"]
    model.train()
    batch = move_to_device(batch, trainer.cuda_device)
    outputs = trainer.batch_outputs(batch, for_training=True) if hasattr(trainer, "batch_outputs") else model(**batch)
    loss = outputs["loss"]
    loss.backward()
    step.loss = loss.item()
    if not math.isfinite(step.loss):
        yield Problem(path="model", wanted="a finite loss", found=str(step.loss), kind="build")
    yield from _validate(trainer, model, config, running)


def _validate(trainer: Any, model: Any, config: dict[str, Any], running: list[str]) -> Iterator[Problem]:
    running[:] = ["validation_data_loader" if "validation_data_loader" in config else "data_loader"]
    loader = getattr(trainer, "_validation_data_loader", None)
    if loader is None:
        return
    batch = next(iter(loader), None)
    if batch is None:
        yield Problem(path="validation_data_path", wanted="instances", found="none", kind="build")
        return
    running[:] = ["model"]
    model.eval()
    with torch.no_grad():
        model(**move_to_device(batch, trainer.cuda_device))
    yield from metric_problems(config, {*model.get_metrics(reset=True), "loss", "reg_loss"})


def metric_problems(config: dict[str, Any], metrics: set[str]) -> Iterator[Problem]:
    """A validation metric that the model does not give; one of a label may be missing on few instances."""
    given = config["trainer"].get("validation_metric", "-loss") if isinstance(config.get("trainer"), dict) else "-loss"
    families = {re.split(r"[-_/:]", name)[0] for name in metrics if re.search(r"[-_/:]", name)}
    for place, signed in enumerate(given if isinstance(given, list) else [given]):
        name = signed[1:]
        path = f"trainer.validation_metric.{place}" if isinstance(given, list) else "trainer.validation_metric"
        if name not in metrics and not (re.search(r"[-_/:]", name) and re.split(r"[-_/:]", name)[0] in families):
            near = nearest(name, metrics)
            wanted = "a metric of the model" if near else f"a metric of the model ({', '.join(sorted(metrics))})"
            yield Problem(path=path, wanted=wanted, found=shown(signed), nearest=near, kind="name")


def _namespaces(vocabulary: Any) -> set[str]:
    return {*vocabulary.get_namespaces(), *vocabulary._token_to_index}


def _failure(error: Exception, record: Record, config: dict[str, Any], running: list[str]) -> list[Problem]:
    """
    What was raised, at the path of what was being constructed, or of the module that was running; where a dictionary is
    not what was expected, at the arguments that were given one for want of an annotation.
    """
    message = one_line(error) or f"{type(error).__name__}: {error}"
    misfit = told_misfit(message, record, config)
    if misfit is not None:
        return [misfit]
    if record.plain and re.search(r"\bdict\b", message):
        return [_unannotated(path, *owner, message) for path, owner in record.plain.items()]
    paths = [vars(cause)[PATH] for cause in causes(error) if PATH in vars(cause)]
    if running:
        return [Problem(path=running[-1], wanted="a step forward and back", found=message, kind="build")]
    path = paths[-1] if paths else ""
    return [Problem(path=path, wanted="something that can be built", found=message, kind="build")]


def _unannotated(path: str, cls: str, argument: str, message: str) -> Problem:
    wanted = f"a type annotation (no string) for the argument {argument} of {cls}"
    reason = "since AllenNLP passes a plain dictionary without one"
    return Problem(path=path, wanted=f"{wanted}, {reason}", found=message, kind="build")
