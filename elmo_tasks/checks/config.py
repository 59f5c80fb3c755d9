"""All checks of one config file."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.common.checks import ConfigurationError

from elmo_tasks.checks.distributed import device_problems
from elmo_tasks.checks.entity_types import entity_type_problems
from elmo_tasks.checks.files import file_problems, split_problems
from elmo_tasks.checks.problem import Problem
from elmo_tasks.checks.regexes import invalid_regexes
from elmo_tasks.checks.schema import shape_problems
from elmo_tasks.checks.step import take_step
from elmo_tasks.checks.unused_keys import unused_key_problems
from elmo_tasks.compat.predictors import default_predictor
from elmo_tasks.compat.terminal import one_line

STATIC: tuple[Callable[[dict[str, Any]], Iterable[Problem]], ...] = (
    shape_problems,
    file_problems,
    split_problems,
    entity_type_problems,
    unused_key_problems,
    invalid_regexes,
    device_problems,
)

PREVENTING = ("key", "type", "value", "name", "missing", "file", "regex")
"""Kinds of problems with which a config is not built."""


@dataclass
class Report:
    """The result of all checks."""

    problems: list[Problem]
    """Sorted by path."""
    loss: float | None = None
    """Of the training step; `None` if there was none."""
    predictor: str | None = None
    """The default of `allennlp predict` for an archive of this config."""
    seconds: float = 0.0


def check_config(file: str | Path, overrides: str = "", *, build: bool = True) -> Report:
    """
    Reads a config as `allennlp train` does, and reports all problems.

    With `build`, the config is built on a few instances and takes a training step, unless problems prevent it.
    """
    start = time.perf_counter()
    try:
        config = Params.from_file(str(file), overrides).as_dict(quiet=True)
    except Exception as error:
        line = one_line(error) or (f"{error}" if isinstance(error, ValueError) else None)
        if line is None:
            raise
        return Report([Problem(path="", expected="a readable config", got=line, kind="build")])
    problems = [problem for check in STATIC for problem in check(config)]
    can_build = build and not any(problem.kind in PREVENTING for problem in problems)
    found, loss = take_step(config) if can_build else ([], None)
    problems = sorted([*problems, *found], key=lambda problem: problem.path)
    return Report(problems, loss, _predictor(config), time.perf_counter() - start)


def _predictor(config: dict[str, Any]) -> str | None:
    try:
        return default_predictor(config["model"])
    except (KeyError, TypeError, ConfigurationError):  # no valid model, which is one of the problems
        return None
