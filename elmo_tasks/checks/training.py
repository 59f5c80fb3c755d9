"""The checks that `allennlp train` runs before it reads data."""

import copy
import functools
import inspect
import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from allennlp.commands import train
from allennlp.common import Params, Registrable
from allennlp.models import Model

from elmo_tasks.checks.devices import device_problems
from elmo_tasks.checks.files import file_problems, paths_read
from elmo_tasks.checks.problem import Problem
from elmo_tasks.checks.schema import shape_problems
from elmo_tasks.errors import InputError

logger = logging.getLogger(__name__)

PACKAGE = __name__.split(".")[0]


def is_ours(config: Mapping[str, Any]) -> bool:
    """Whether a config trains a model of this package, or one that is misspelt."""
    model = config.get("model")
    name = model.get("type") if isinstance(model, Mapping) else model
    found = Registrable._registry[Model].get(name) if isinstance(name, str) else None
    module = found[0].__module__ if found is not None else str(name)
    return module.startswith((f"{PACKAGE}.", f"{PACKAGE}_"))


def require_none(problems: Sequence[Problem]) -> None:
    """Raises `InputError`, which lists all problems, if there are any."""
    if problems:
        lines = "".join(f"\n  {problem}" for problem in problems)
        count = "one problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise InputError(f"the config has {count}, nothing was read or written:{lines}")


def check_before_training() -> None:
    """
    Makes `allennlp train` reject invalid configs before it reads data.

    `shape_problems` is for configs of our models; when such a run is recovered, it only gives a warning. Missing GPUs,
    and a `--force` that would delete files that the training reads, are errors for all configs.

    AllenNLP constructs the model after reading all data, and its trainer ignores unknown keys. The patch can go when
    AllenNLP checks a config first.
    """
    train.train_model = _checking(train.train_model)
    train.train_model_from_file = _keeping_config(train.train_model_from_file)


def _checking(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def train_model(params: Params, *arguments: Any, **options: Any) -> Any:
        given = inspect.signature(original).bind(params, *arguments, **options).arguments
        config = copy.deepcopy(params.as_dict(quiet=True))  # AllenNLP takes the keys out of it
        recover = bool(given.get("recover"))
        if given.get("force") and not recover:
            require_replaceable(given["serialization_dir"], paths_read(config))
            if os.path.isdir(given["serialization_dir"]):
                require_none(list(file_problems(config)))
        if is_ours(config):
            _check_schema(config, recover=recover)
        require_none(list(device_problems(config)))
        return original(params, *arguments, **options)

    return train_model


def _keeping_config(original: Callable[..., Any]) -> Callable[..., Any]:
    """`train_model_from_file` that does not delete its config file."""

    @functools.wraps(original)
    def train_model_from_file(*arguments: Any, **options: Any) -> Any:
        given = inspect.signature(original).bind(*arguments, **options).arguments
        if given.get("force") and not given.get("recover"):
            require_replaceable(given["serialization_dir"], [given["parameter_filename"]])
        return original(*arguments, **options)

    return train_model_from_file


def _check_schema(config: dict[str, Any], *, recover: bool) -> None:
    try:
        require_none(shape_problems(config))
    except InputError as error:
        if not recover:
            raise
        logger.warning("%s", error)


def require_replaceable(folder: str | os.PathLike[str], read: Iterable[str | os.PathLike[str]]) -> None:
    """Raises `InputError` if `--force` would delete a file in `read`."""
    target = Path(folder)
    for file in map(Path, read):
        if target.is_dir() and file.exists() and _is_in(file, target):
            problem = f"--force would delete {file}, which the training reads"
            raise InputError(problem, file=target, hint="give -s another folder, or delete the other files yourself")


def _is_in(file: Path, folder: Path) -> bool:
    """Whether a file is in a folder, by its path or after following links."""
    real = folder.resolve()
    return file.resolve().is_relative_to(real) or Path(os.path.abspath(file)).is_relative_to(os.path.abspath(folder))
