"""All checks of one config file."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from allennlp.common import Params

from elmo_tasks.checks.devices import device_problems
from elmo_tasks.checks.files import file_problems, split_problems
from elmo_tasks.checks.problem import Problem
from elmo_tasks.checks.regexes import regex_problems
from elmo_tasks.checks.schema import shape_problems
from elmo_tasks.checks.unused_keys import unused_key_problems
from elmo_tasks.compat.terminal import one_line

CHECKS: tuple[Callable[[dict[str, Any]], Iterable[Problem]], ...] = (
    shape_problems,
    file_problems,
    split_problems,
    unused_key_problems,
    regex_problems,
    device_problems,
)


def check_config(file: str | Path, overrides: str = "") -> list[Problem]:
    """Reads a config as `allennlp train` does, and returns all problems, sorted by path. Nothing is constructed."""
    try:
        config = Params.from_file(str(file), overrides).as_dict(quiet=True)
    except Exception as error:
        line = one_line(error) or (f"{error}" if isinstance(error, ValueError) else None)
        if line is None:
            raise
        return [Problem(path="", expected="a readable config", got=line)]
    return sorted((problem for check in CHECKS for problem in check(config)), key=lambda problem: problem.path)
