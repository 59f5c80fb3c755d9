"""What `allennlp train` looks at first in a config of ours: its keys and values, before any data are read."""

import copy
import functools
import inspect
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from allennlp.commands import train
from allennlp.common import Params, Registrable
from allennlp.models import Model

from elmo_tasks.checks.bilm_widths import naming_bilms
from elmo_tasks.checks.devices import device_problems
from elmo_tasks.checks.entity_types import DISJOINT, entity_type_problems
from elmo_tasks.checks.files import file_problems, paths_read
from elmo_tasks.checks.overwriting import require_replaceable
from elmo_tasks.checks.problem import Problem
from elmo_tasks.checks.schema import shape_problems
from elmo_tasks.errors import InputError

logger = logging.getLogger(__name__)

PACKAGE = __name__.split(".")[0]


def is_ours(config: Mapping[str, Any]) -> bool:
    """Whether a config trains a model of this package."""
    model = config.get("model")
    name = model.get("type") if isinstance(model, Mapping) else model
    found = Registrable._registry[Model].get(name) if isinstance(name, str) else None
    module = found[0].__module__ if found is not None else str(name)
    return module.split(".")[0] == PACKAGE or module.startswith(f"{PACKAGE}_")


def require_none(problems: Sequence[Problem]) -> None:
    """
    # Raises

    `InputError`
        If the config has problems; it lists all of them.
    """
    if not problems:
        return
    lines = "".join(f"\n  {problem}" for problem in problems)
    count = "one problem" if len(problems) == 1 else f"{len(problems)} problems"
    raise InputError(f"the config has {count}, nothing was read or written:{lines}")


def require_shared_entity_types(config: Mapping[str, Any]) -> None:
    """
    Warns of what `entity_type_problems` finds.

    # Raises

    `InputError`
        If validation or test data have none of the entity types of the training data.
    """
    problems = list(entity_type_problems(config))
    for problem in problems:
        if problem.kind == DISJOINT:
            raise InputError(str(problem), hint="is the last column of one of the files cut off?")
    for problem in problems:
        logger.warning("%s", problem)


def check_before_training() -> None:
    """
    Lets `allennlp train` refuse a config of ours that `shape_problems` finds something wrong with, and NER data whose
    splits share no entity type.

    AllenNLP constructs the model when all data are read, and its trainer takes unknown keys in silence. Configs whose
    model is not ours are left alone; those of a run that is recovered were accepted when it began, so that they get a
    warning. With `--force` the folder to delete and the files that the config names are checked in every config, too.
    A missing GPU is an error in every config, and an error about widths names the biLM that has a part in
    them. It can go when AllenNLP looks at a config before it reads data.
    """
    original = train.train_model
    if hasattr(original, "checks_first"):
        return

    @functools.wraps(original)
    def train_model(params: Params, *arguments: Any, **options: Any) -> Any:
        given = inspect.signature(original).bind(params, *arguments, **options).arguments
        config = copy.deepcopy(params.as_dict(quiet=True))  # AllenNLP takes the keys out of it
        if given.get("force") and not given.get("recover"):
            _require_safe_deletion(given["serialization_dir"], config)
        if is_ours(config):
            _look(config, is_recovered=bool(given.get("recover")))
        require_none(list(device_problems(config)))
        if not given.get("recover"):
            require_shared_entity_types(config)
        with naming_bilms(config):
            return original(params, *arguments, **options)

    vars(train_model)["checks_first"] = True
    train.train_model = train_model
    train.train_model_from_file = _keeping_config(train.train_model_from_file)


def _keeping_config(original: Callable[..., Any]) -> Callable[..., Any]:
    """`train_model_from_file` that does not delete its config file."""

    @functools.wraps(original)
    def train_model_from_file(*arguments: Any, **options: Any) -> Any:
        given = inspect.signature(original).bind(*arguments, **options).arguments
        if given.get("force") and not given.get("recover"):
            require_replaceable(given["serialization_dir"], [given["parameter_filename"]])
        return original(*arguments, **options)

    return train_model_from_file


def _require_safe_deletion(folder: str | os.PathLike[str], config: dict[str, Any]) -> None:
    """Raises `InputError` if `--force` would delete what is read, or a run that the config cannot replace."""
    require_replaceable(folder, paths_read(config))
    if os.path.isdir(folder):
        require_none(list(file_problems(config)))


def _look(config: dict[str, Any], *, is_recovered: bool) -> None:
    try:
        require_none(shape_problems(config))
    except InputError as error:
        if not is_recovered:
            raise
        logger.warning("%s", error)
