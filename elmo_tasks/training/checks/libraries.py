"""
Classes of AllenNLP that do not work with the installed version of another library.
"""

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.training.callbacks import TrainerCallback, WandBCallback

from elmo_tasks.training.checks.problem import Problem, get, items, shown


def library_problems(config: dict[str, Any]) -> Iterator[Problem]:
    """
    The callback `wandb`, which AllenNLP constructs before, but uses after all data are
    read.
    """
    for number, one in items(get(config, "trainer.callbacks")):
        name = one.get("type") if isinstance(one, dict) else one
        fault = _fault_of_wandb() if _is_wandb(name) else None
        if fault is not None:
            path = f"trainer.callbacks.{number}"
            expected = "a callback that works with the installed packages"
            yield Problem(path, expected, f"{shown(name)} ({fault})")


def _is_wandb(name: object) -> bool:
    if not isinstance(name, str):
        return False
    try:
        return issubclass(TrainerCallback.by_name(name), WandBCallback)
    except (ConfigurationError, ImportError, ValueError):
        return False


def _fault_of_wandb() -> str | None:
    try:
        import wandb
    except ImportError as error:
        return f"it needs wandb: {error}"
    if hasattr(wandb.util, "generate_id"):
        return None
    try:
        installed = version("wandb")
    except PackageNotFoundError:
        installed = "?"
    return (
        f"AllenNLP's calls wandb.util.generate_id, which wandb {installed} does not have; "
        "TensorBoard events are in DIR/log"
    )
