"""What `allennlp train` looks at first in a config of ours: its keys and values, before any data are read."""

import functools
import inspect
import logging
from collections.abc import Mapping
from typing import Any

from allennlp.commands import train
from allennlp.common import Params, Registrable
from allennlp.models import Model

from elmo_tasks.checks.shape import shape_problems
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


def require_sound(config: Mapping[str, Any]) -> None:
    """
    # Raises

    `InputError`
        If the config has keys that nothing reads, or values of a wrong type; it lists all of them.
    """
    problems = shape_problems(config)
    if not problems:
        return
    lines = "".join(f"\n  {problem}" for problem in problems)
    count = "one problem" if len(problems) == 1 else f"{len(problems)} problems"
    raise InputError(f"the config has {count}, nothing was read or written:{lines}")


def check_before_training() -> None:
    """
    Lets `allennlp train` refuse a config of ours that `shape_problems` finds something wrong with.

    AllenNLP constructs the model when all data are read, and its trainer takes unknown keys in silence. Configs whose
    model is not ours are left alone; those of a run that is recovered were accepted when it began, so that they get a
    warning. It can go when AllenNLP looks at a config before it reads data.
    """
    original = train.train_model
    if hasattr(original, "checks_first"):
        return

    @functools.wraps(original)
    def train_model(params: Params, *arguments: Any, **options: Any) -> Any:
        given = inspect.signature(original).bind(params, *arguments, **options).arguments
        config = params.as_dict(quiet=True)
        if is_ours(config):
            _look(config, is_recovered=bool(given.get("recover")))
        return original(params, *arguments, **options)

    vars(train_model)["checks_first"] = True
    train.train_model = train_model


def _look(config: dict[str, Any], *, is_recovered: bool) -> None:
    try:
        require_sound(config)
    except InputError as error:
        if not is_recovered:
            raise
        logger.warning("%s", error)
