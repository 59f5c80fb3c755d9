"""
Values that do not work with the installed version of another library, or without it, or
on this machine.
"""

import multiprocessing
from collections.abc import Iterator
from typing import Any

import torch

from elmo_tasks.training.checks.problem import Problem, shown
from elmo_tasks.training.nested import get, items


def library_problems(config: dict[str, Any]) -> Iterator[Problem]:
    """
    AllenNLP's callback `wandb`, which calls what wandb has removed only after all data
    are read; `use_amp` without a GPU; a `start_method` that AllenNLP's data loader
    cannot use.
    """
    yield from _mixed_precision(config)
    for key in ("data_loader", "validation_data_loader"):
        yield from _start_method(key, config.get(key))
    for number, one in items(get(config, "trainer.callbacks")):
        name = one.get("type") if isinstance(one, dict) else one
        if name == "wandb":
            expected = "elmo_tasks_wandb, with the same keys"
            reason = "calls wandb.util.generate_id, which wandb has removed"
            path = f"trainer.callbacks.{number}"
            yield Problem(path, expected, f"{shown(name)}, which {reason}")


def _mixed_precision(config: dict[str, Any]) -> Iterator[Problem]:
    if get(config, "trainer.use_amp") is not True:
        return
    device = get(config, "trainer.cuda_device")
    if device is None:
        on_cpu = not torch.cuda.is_available()
    else:
        on_cpu = device == -1
    if on_cpu:
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
