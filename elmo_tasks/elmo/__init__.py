"""ELMo for models: the biLM's layers, their scalar mix, the layer cache, and files of vectors."""

from typing import TYPE_CHECKING, Any

from elmo_tasks.elmo.hdf5_reader import ElmoVectors
from elmo_tasks.elmo.sentence_embedder import Elmo

if TYPE_CHECKING:
    from elmo_tasks.elmo.embedder import ElmoTokenEmbedder

__all__ = ["Elmo", "ElmoTokenEmbedder", "ElmoVectors"]


def __getattr__(name: str) -> Any:
    """`ElmoTokenEmbedder` needs AllenNLP and is imported on first use."""
    if name != "ElmoTokenEmbedder":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from elmo_tasks.elmo.embedder import ElmoTokenEmbedder

    return ElmoTokenEmbedder
