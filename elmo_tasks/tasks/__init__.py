"""
The tasks: reader, model, predictor and record of each, and what they share. Light until
a module is imported.
"""

from importlib import import_module
from typing import Any

from elmo_tasks.tasks.task import Task

PACKAGES = ("squad", "snli", "srl", "coref", "tagging", "sst")
"""Each has its records in `TASKS`."""


def _tasks() -> dict[str, Task]:
    found = {}
    for name in PACKAGES:
        for task in import_module(f"elmo_tasks.tasks.{name}").TASKS:
            found[task.name] = task
    return found


TASKS = _tasks()
"""By name, in the order of the paper."""


def task_of(predictor: Any) -> Task | None:
    """The task of a predictor, `None` for a predictor of another package."""
    for task in TASKS.values():
        if type(predictor) is task.predictor:
            return task
    return None
