"""
Values that do not work with the installed version of another library, or without it, or
on this machine.
"""

import multiprocessing
from collections.abc import Iterator
from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.training.callbacks import TrainerCallback, WandBCallback

from elmo_tasks.training.checks.problem import Problem, shown
from elmo_tasks.training.nested import get, items
from elmo_tasks.training.trackers import TRACKERS, fault_of
from elmo_tasks.training.tracking import Tracking


def library_problems(config: dict[str, Any]) -> Iterator[Problem]:
    """
    AllenNLP's callback `wandb`, which it constructs before, but uses after all data are
    read; a tracker whose package is missing; `use_amp` without a GPU; a `start_method`
    that AllenNLP's data loader cannot use.
    """
    yield from _mixed_precision(config)
    for key in ("data_loader", "validation_data_loader"):
        yield from _start_method(key, config.get(key))
    for number, one in items(get(config, "trainer.callbacks")):
        name = one.get("type") if isinstance(one, dict) else one
        callback = _callback(name)
        path = f"trainer.callbacks.{number}"
        if issubclass(callback, WandBCallback):
            fault = _fault_of_wandb()
            if fault is not None:
                expected = "a callback that works with the installed packages"
                yield Problem(path, expected, f"{shown(name)} ({fault})")
        elif issubclass(callback, Tracking):
            tracker = get(one, "to")
            if isinstance(tracker, str) and tracker in TRACKERS:
                fault = fault_of(tracker)
                if fault is not None:
                    expected = f"{shown(tracker)} and its package"
                    yield Problem(f"{path}.to", expected, fault)


def _mixed_precision(config: dict[str, Any]) -> Iterator[Problem]:
    on_cpu = get(config, "trainer.cuda_device") == -1
    if get(config, "trainer.use_amp") is not True:
        return
    if on_cpu or not torch.cuda.is_available():
        yield Problem("trainer.use_amp", "false on a CPU", "true")


def _start_method(path: str, loader: Any) -> Iterator[Problem]:
    """
    AllenNLP gives its workers a lock of the default start method. One of `fork` cannot
    be passed to a process that is started otherwise.
    """
    method = get(loader, "start_method")
    is_used = bool(get(loader, "num_workers"))
    default = multiprocessing.get_start_method()
    if is_used and default == "fork" and method not in (None, default):
        expected = "fork, which AllenNLP's data loader needs here"
        yield Problem(f"{path}.start_method", expected, shown(method))


def _callback(name: object) -> type[TrainerCallback]:
    """The class of this name; that of all callbacks if there is none."""
    if not isinstance(name, str):
        return TrainerCallback
    try:
        callback, _ = TrainerCallback.resolve_class_name(name)
    except (ConfigurationError, ImportError, ValueError):
        return TrainerCallback
    return callback


def _fault_of_wandb() -> str | None:
    try:
        import wandb
    except ImportError:
        installed = "is not installed, and its current versions lack"
    else:
        if hasattr(wandb.util, "generate_id"):
            return None
        installed = f"{getattr(wandb, '__version__', '?')} lacks"
    return (
        f"wandb {installed} wandb.util.generate_id, which AllenNLP's callback calls; "
        'use {"type": "elmo_tasks_tracker", "to": "wandb"}'
    )
