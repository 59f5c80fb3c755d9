"""
Registers the classes of allennlp-models.

- Its scripts are not imported: one of them downloads data of nltk at once. What models
  need of them, they import.
- rouge, which it imports, asks `pkg_resources` for the path of a file of its own;
  setuptools 81 has removed that. It gets a module that knows such paths and nothing
  else, until it is imported.
"""

import importlib
import importlib.resources
import logging
import sys
from types import ModuleType

from allennlp.common.util import import_module_and_submodules

logger = logging.getLogger(__name__)

MODELS = "allennlp_models"

_SCRIPTS = {"allennlp_models.rc.tools"}


def register() -> None:
    """An error is logged if a package is missing, as AllenNLP does for its plugins."""
    try:
        _import_rouge()
        import_module_and_submodules(MODELS, exclude=_SCRIPTS)
    except ModuleNotFoundError as error:
        logger.error(
            "allennlp-models cannot be imported: %s (pip install --no-deps "
            "allennlp-models==2.10.1)",
            error,
        )
        return
    from allennlp_models.classification import BiattentiveClassificationNetwork

    # As its model card says; the class states none.
    BiattentiveClassificationNetwork.default_predictor = "text_classifier"


def _import_rouge() -> None:
    if "pkg_resources" in sys.modules:
        importlib.import_module("rouge")
        return
    sys.modules["pkg_resources"] = _PackageFiles("pkg_resources")
    try:
        importlib.import_module("rouge")
    finally:
        del sys.modules["pkg_resources"]


class _PackageFiles(ModuleType):
    """What rouge uses of `pkg_resources`."""

    @staticmethod
    def resource_filename(module: str, name: str) -> str:
        """The path of a file next to a module."""
        package = module.rpartition(".")[0]
        return str(importlib.resources.files(package) / name)
