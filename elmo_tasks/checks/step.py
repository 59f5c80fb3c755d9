"""Builds a config on a few instances, and runs one training step."""

import copy
import math
import re
import tempfile
from collections.abc import Iterator
from typing import Any

import torch
from allennlp.commands.train import TrainModel
from allennlp.common import Params
from allennlp.common.util import prepare_environment
from allennlp.data import DataLoader, DatasetReader
from allennlp.nn.util import move_to_device
from torch import nn

from elmo_tasks.checks.objects import Target, target_of
from elmo_tasks.checks.problem import Problem, get, nearest, nested_objects, shown
from elmo_tasks.checks.record import PATH, recorded
from elmo_tasks.checks.regexes import regex_problems
from elmo_tasks.checks.schema import BESIDE_TRAINING
from elmo_tasks.compat.devices import CPU, has_device
from elmo_tasks.compat.seeds import spread_seed
from elmo_tasks.compat.terminal import causes, one_line

INSTANCES = 8


def take_step(config: dict[str, Any]) -> tuple[list[Problem], float | None]:
    """
    Reads a few instances, builds model and trainer, runs the model forward and backward on one batch, and forward on
    one batch of validation data. Nothing is kept on disk. Takes a resolved config without problems of `shape_problems`;
    returns the problems and the loss, `None` if there was no step.
    """
    problems: list[Problem] = []
    loss = None
    smaller = Params(shrink_config(config))
    running: list[str] = []  # paths of the running modules, the innermost last
    with recorded() as record, tempfile.TemporaryDirectory() as folder:
        try:
            spread_seed(smaller)
            prepare_environment(smaller)
            for key in BESIDE_TRAINING:
                smaller.params.pop(key, None)
            built = TrainModel.from_params(params=smaller, serialization_dir=folder, local_rank=0)
            for path, module in record.modules():
                _track(module, path, running)
            loss = _train(built, running)
            problems += _loss_problems(loss)
            if loss is not None:
                problems += _validate(built.trainer, built.model, config, running)
            problems += regex_problems(config, built.model, record)
        except Exception as error:
            problems.append(_failure(error, running))
    return problems, loss


def _track(module: nn.Module, path: str, running: list[str]) -> None:
    """Keeps the path of a module in `running` while it runs."""

    def after(*_: Any) -> None:
        running.pop()

    module.register_forward_pre_hook(lambda *_: running.append(path))
    module.register_forward_hook(after)


def shrink_config(config: dict[str, Any]) -> dict[str, Any]:
    """The config with few instances, all of them in the vocabulary, small batches, one process and no missing GPU."""
    smaller = copy.deepcopy(config)
    smaller.pop("datasets_for_vocab_creation", None)  # a few instances of one split lack labels of the other
    for key in ("dataset_reader", "validation_dataset_reader"):
        _limit_reader(smaller, key)
    for key in ("data_loader", "validation_data_loader"):
        _limit_loader(smaller.get(key))
    device = get(smaller, "trainer.cuda_device")
    if device is not None and not has_device(device):
        smaller["trainer"]["cuda_device"] = CPU
    for _, part in nested_objects(smaller.get("model")):
        if part.get("type") == "elmo_tasks_word_vectors":
            part.pop("keep_all_pretrained", None)  # it only takes time
    return smaller


def _limit_reader(config: dict[str, Any], key: str) -> None:
    reader = config.get(key)
    reader = {"type": reader} if isinstance(reader, str) else reader
    if not isinstance(reader, dict):
        return
    target = target_of(key, reader, DatasetReader)
    if isinstance(target, Target) and "max_instances" in target.parameters:
        config[key] = {**reader, "max_instances": min(INSTANCES, reader.get("max_instances") or INSTANCES)}


def _limit_loader(loader: Any) -> None:
    """Small batches; an incomplete last one is kept, since there may be no other."""
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


def _train(built: TrainModel, running: list[str]) -> float | None:
    """The loss of one step; `None` if there are no instances."""
    trainer, model = built.trainer, built.model
    running[:] = ["data_loader"]
    batch = next(iter(trainer.data_loader), None)
    if batch is None:
        return None
    running[:] = ["model"]
    model.train()
    batch = move_to_device(batch, trainer.cuda_device)
    outputs = trainer.batch_outputs(batch, for_training=True) if hasattr(trainer, "batch_outputs") else model(**batch)
    outputs["loss"].backward()
    loss: float = outputs["loss"].item()
    return loss


def _loss_problems(loss: float | None) -> Iterator[Problem]:
    if loss is None:
        yield Problem(path="train_data_path", expected="instances", got="none", kind="build")
    elif not math.isfinite(loss):
        yield Problem(path="model", expected="a finite loss", got=str(loss), kind="build")


def _validate(trainer: Any, model: Any, config: dict[str, Any], running: list[str]) -> Iterator[Problem]:
    running[:] = ["validation_data_loader" if "validation_data_loader" in config else "data_loader"]
    loader = getattr(trainer, "_validation_data_loader", None)
    if loader is None:
        return
    batch = next(iter(loader), None)
    if batch is None:
        yield Problem(path="validation_data_path", expected="instances", got="none", kind="build")
        return
    running[:] = ["model"]
    model.eval()
    with torch.no_grad():
        model(**move_to_device(batch, trainer.cuda_device))
    yield from metric_problems(config, {*model.get_metrics(reset=True), "loss", "reg_loss"})


def metric_problems(config: dict[str, Any], metrics: set[str]) -> Iterator[Problem]:
    """Validation metrics that the model does not report; that of a label (`f1-PER`) may need more instances."""
    path, given = "trainer.validation_metric", get(config, "trainer.validation_metric") or "-loss"
    families = {re.split(r"[-_/:]", name)[0] for name in metrics if re.search(r"[-_/:]", name)}
    for place, signed in enumerate(given if isinstance(given, list) else [given]):
        family, *label = re.split(r"[-_/:]", signed[1:])
        if signed[1:] in metrics or (label and family in families):
            continue
        near = nearest(signed[1:], metrics)
        expected = "a metric of the model" if near else f"a metric of the model ({', '.join(sorted(metrics))})"
        here = f"{path}.{place}" if isinstance(given, list) else path
        yield Problem(path=here, expected=expected, got=shown(signed), nearest=near, kind="name")


def _failure(error: Exception, running: list[str]) -> Problem:
    """An exception, at the path of what was under construction, or of the running module."""
    message = one_line(error) or f"{type(error).__name__}: {error}"
    if running:
        return Problem(path=running[-1], expected="a training step", got=message, kind="build")
    paths = [vars(cause)[PATH] for cause in causes(error) if PATH in vars(cause)]
    return Problem(path=paths[-1] if paths else "", expected="an object that can be built", got=message, kind="build")
