"""The AllenNLP plugin: importing it registers all names, and changes nothing else."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from elmo_tasks.tasks import TASKS

REGISTERING_MODULES: dict[str, tuple[str, ...]] = {
    "nn": (
        "character_cnn",
        "coupled_lstm",
        "elmo_embedder",
        "elmo_indexer",
        "gru",
        "highway_lstm",
        "stacked_lstm",
        "word_indexer",
        "word_vectors",
    ),
    "training": (
        "checks.training",
        "optimization",
        "subsampling",
        "token_budget",
        "trainer",
        "vocabulary",
    ),
    "tasks": ("tokenizer",),
    "pretraining": ("callbacks", "data_loader", "model"),
}
"""By package. Of a task's package every module is imported."""


def registering_modules() -> Iterator[str]:
    """The names of all modules to import."""
    for package, names in REGISTERING_MODULES.items():
        yield from (f"elmo_tasks.{package}.{name}" for name in names)
    for package in {task.package: None for task in TASKS.values()}:
        yield from (f"{package}.{module.name}" for module in iter_modules(import_module(package).__path__))


def register_all() -> None:
    """
    Imports every registering module.

    Raises `ImportError` if one of them cannot be imported. AllenNLP would log a `ModuleNotFoundError` and continue
    without the plugin.
    """
    for name in registering_modules():
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            raise ImportError(f"{name} cannot be imported: {error}") from error


register_all()
