"""The AllenNLP plugin: importing it registers all names, and changes nothing else."""

from elmo_tasks.host import import_submodules, load_allennlp

PACKAGES = ("nn", "training", "tasks", "pretraining")
"""Those that register classes."""


def register_all() -> None:
    """
    Imports every module of `PACKAGES`.

    Raises `ImportError` if one of them cannot be imported. AllenNLP would log a
    `ModuleNotFoundError` and continue without the plugin.
    """
    load_allennlp()
    try:
        for package in PACKAGES:
            import_submodules(f"elmo_tasks.{package}")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"the plugin elmo_tasks cannot be imported: {error}"
        ) from error


register_all()
