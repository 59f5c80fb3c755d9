"""All checks of one config file."""

from itertools import chain
from pathlib import Path

from allennlp.common import Params

from elmo_tasks.checks.devices import device_problems
from elmo_tasks.checks.files import file_problems
from elmo_tasks.checks.problem import Problem
from elmo_tasks.checks.schema import shape_problems
from elmo_tasks.compat.terminal import one_line


def check_config(file: str | Path, overrides: str = "") -> list[Problem]:
    """Reads a config as `allennlp train` does, and returns all problems, sorted by path. Nothing is constructed."""
    try:
        config = Params.from_file(str(file), overrides).as_dict(quiet=True)
    except Exception as error:
        line = one_line(error) or (f"{error}" if isinstance(error, ValueError) else None)
        if line is None:
            raise
        return [Problem(path="", expected="a readable config", got=line)]
    found = chain(shape_problems(config), file_problems(config), device_problems(config))
    return sorted(found, key=lambda problem: problem.path)
