"""All checks of one config file."""

import copy
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.common.checks import ConfigurationError

from elmo_tasks.checks.devices import device_problems
from elmo_tasks.checks.entity_types import entity_type_problems
from elmo_tasks.checks.files import file_problems, split_problems
from elmo_tasks.checks.problem import Problem
from elmo_tasks.checks.regexes import invalid_regexes
from elmo_tasks.checks.schema import in_order, shape_problems
from elmo_tasks.checks.step import Step, take_step
from elmo_tasks.checks.unused_keys import idle_problems
from elmo_tasks.compat.predictors import default_predictor
from elmo_tasks.compat.terminal import one_line

STATIC: tuple[Callable[[dict[str, Any]], Iterable[Problem]], ...] = (
    shape_problems,
    file_problems,
    split_problems,
    entity_type_problems,
    idle_problems,
    invalid_regexes,
    device_problems,
)


READABLE = "a config that can be read"


@dataclass
class Report:
    """
    # Parameters

    problems : `list[Problem]`
        In the order of the config.
    loss : `float`, optional
        Of the step; `None` where there was none.
    predictor : `str`, optional
        What `allennlp predict` uses by default for an archive of this config; `None` where it has none.
    seconds : `float`
    """

    problems: list[Problem] = field(default_factory=list)
    loss: float | None = None
    predictor: str | None = None
    seconds: float = 0.0


def check_config(file: str | Path, overrides: str = "", *, build: bool = True) -> Report:
    """
    Checks a config as `allennlp train` would read it, and reports all that is wrong with it.

    # Parameters

    file : `str` or `Path`
        JSON or Jsonnet.
    overrides : `str`
        As for `-o`.
    build : `bool`
        Whether to build it on some instances and take a step, where nothing that stands in the way is found before.
    """
    began = time.perf_counter()
    if Path(file).is_dir():  # which Jsonnet does not survive
        return Report([Problem(path="", wanted=READABLE, found=f"the folder {file}", kind="build")])
    try:
        config = Params.from_file(str(file), overrides).as_dict(quiet=True)
    except Exception as error:
        line = one_line(error) or (f"{error}" if isinstance(error, ValueError) else None)
        if line is None:
            raise
        return Report([Problem(path="", wanted=READABLE, found=line, kind="build")])
    problems = [problem for check in STATIC for problem in check(config)]
    step = _step(config, problems) if build else Step()
    told = {problem.path for problem in problems}
    problems += [problem for problem in step.problems if problem.path not in told]
    return Report(in_order(problems, config), step.loss, _predictor(config), time.perf_counter() - began)


def _predictor(config: dict[str, Any]) -> str | None:
    try:
        return default_predictor(config["model"])
    except (KeyError, TypeError, ConfigurationError):  # no model, which is among the problems
        return None


def _step(config: dict[str, Any], problems: list[Problem]) -> Step:
    """
    A step with the config, or with one in which what can be left out is left out: then only problems that cannot come
    from this are told.
    """
    if any(problem.kind in ("file", "name", "missing", "regex") for problem in problems):
        return Step()
    wrong = [problem for problem in problems if problem.kind in ("key", "type", "value")]
    if not wrong:
        return take_step(config)
    mended = without_faults(config, wrong)
    if shape_problems(mended):
        return Step()
    step = take_step(mended)
    return Step([problem for problem in step.problems if problem.kind != "build"], None)


def without_faults(config: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """The config with misspelt keys renamed, and other faulty ones left out, so that defaults apply."""
    mended = copy.deepcopy(config)
    for problem in problems:
        owner, key = _owner(mended, problem.path)
        if owner is None or key not in owner:
            continue
        value = owner.pop(key)
        if problem.kind == "key" and problem.nearest and problem.nearest not in owner:
            owner[problem.nearest] = value
    return mended


def _owner(config: dict[str, Any], path: str) -> tuple[dict[str, Any] | None, str]:
    """The innermost object on the path, and its key; what is wrong in a list takes the list along."""
    owner, key, part = None, "", config
    for name in path.split("."):
        if isinstance(part, dict):
            owner, key = part, name
            part = part.get(name, {})
        elif isinstance(part, list) and name.isdigit() and int(name) < len(part):
            part = part[int(name)]
        else:
            break
    return owner, key
