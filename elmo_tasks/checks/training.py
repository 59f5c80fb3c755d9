"""The checks that `allennlp train` runs before it reads data."""

import copy
import functools
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from allennlp.commands import train
from allennlp.common import Params

from elmo_tasks.checks.files import device_problems, file_problems, paths_read
from elmo_tasks.checks.problem import Problem
from elmo_tasks.checks.schema import shape_problems
from elmo_tasks.errors import InputError


def is_ours(config: Mapping[str, Any]) -> bool:
    """Whether a config trains a model of this package, or one that is misspelt."""
    model = config.get("model")
    name = model.get("type") if isinstance(model, Mapping) else model
    return str(name).startswith(("elmo_tasks.", "elmo_tasks_"))


def require_none(found: Iterable[Problem]) -> None:
    """Raises `InputError`, which lists all problems, if there are any."""
    if problems := list(found):
        lines = "".join(f"\n  {problem}" for problem in problems)
        count = "one problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise InputError(f"the config has {count}, nothing was read or written:{lines}")


def check_before_training() -> None:
    """
    Makes `allennlp train` reject invalid configs before it reads data.

    `shape_problems` is for configs of our models, unless the run is resumed. Missing GPUs, and a `--force` that would
    delete files that the training reads, are errors for all configs.

    AllenNLP constructs the model after reading all data, and its trainer ignores unknown keys. The patch can go when
    AllenNLP checks a config first.
    """
    original = train.train_model

    @functools.wraps(original)
    def train_model(
        params: Params,
        serialization_dir: str | os.PathLike[str],
        recover: bool = False,
        force: bool = False,
        *arguments: Any,
        **options: Any,
    ) -> Any:
        config = copy.deepcopy(params.as_dict(quiet=True))  # AllenNLP takes the keys out of it
        if force and not recover:
            require_replaceable(serialization_dir, paths_read(config))
            require_none(file_problems(config))
        if is_ours(config) and not recover:
            require_none(shape_problems(config))
        require_none(device_problems(config))
        return original(params, serialization_dir, recover, force, *arguments, **options)

    train.train_model = train_model


def require_replaceable(folder: str | os.PathLike[str], read: Iterable[Path]) -> None:
    """Raises `InputError` if `--force` would delete a file in `read`."""
    for file in read:
        if file.exists() and file.resolve().is_relative_to(Path(folder).resolve()):
            problem = f"--force would delete {file}, which the training reads"
            raise InputError(
                problem, file=str(folder), hint="give -s another folder, or delete the other files yourself"
            )
