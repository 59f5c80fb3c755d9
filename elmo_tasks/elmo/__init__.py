"""ELMo for models: the biLM's layers, their scalar mix, the layer cache, and files of vectors."""

import warnings
from typing import TYPE_CHECKING, Any

from elmo_tasks import bilm
from elmo_tasks.elmo.elmo import Elmo
from elmo_tasks.elmo.vectors import ElmoVectors

if TYPE_CHECKING:
    from elmo_tasks.elmo.embedder import ElmoTokenEmbedder

__all__ = ["Elmo", "ElmoTokenEmbedder", "ElmoVectors"]

_MOVED = {"BiLm": "BiLM", "BiLmOptions": "BiLMOptions", "BiLmOutput": "BiLMOutput", "batch_to_ids": "batch_to_ids"}
"""Names that were imported from here before `elmo_tasks.bilm` existed, and their present names there."""


def __getattr__(name: str) -> Any:
    """`ElmoTokenEmbedder` needs AllenNLP and is imported on first use; names that moved still work, with a warning."""
    if name == "ElmoTokenEmbedder":
        from elmo_tasks.elmo.embedder import ElmoTokenEmbedder

        return ElmoTokenEmbedder
    if name in _MOVED:
        message = f"elmo_tasks.elmo.{name} is deprecated: use elmo_tasks.bilm.{_MOVED[name]}"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return getattr(bilm, _MOVED[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
