"""All checks of one config file."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
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
from elmo_tasks.checks.step import Step, take_step
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
    """
    # Parameters

    problems : `list[Problem]`
        Sorted by path.
    loss : `float`, optional
        Of the training step; `None` if there was none.
    predictor : `str`, optional
        The default of `allennlp predict` for an archive of this config.
    seconds : `float`
    """

    problems: list[Problem] = field(default_factory=list)
    loss: float | None = None
    predictor: str | None = None
    seconds: float = 0.0


def check_config(file: str | Path, overrides: str = "", *, build: bool = True) -> Report:
    """
    Reads a config as `allennlp train` does, and reports all problems.

    # Parameters

    file : `str` or `Path`
        JSON or Jsonnet.
    overrides : `str`
        As for `-o`.
    build : `bool`
        Whether to build it on a few instances and run a training step, if there are no problems that prevent it.
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
    step = take_step(config) if can_build else Step()
    problems = sorted([*problems, *step.problems], key=lambda problem: problem.path)
    return Report(problems, step.loss, _predictor(config), time.perf_counter() - start)


def _predictor(config: dict[str, Any]) -> str | None:
    try:
        return default_predictor(config["model"])
    except (KeyError, TypeError, ConfigurationError):  # no valid model, which is one of the problems
        return None
