"""The shared half: text -> character ids -> biLM -> L+1 layers -> mix. Needs torch, numpy and h5py alone."""

from typing import TYPE_CHECKING, Any

from elmo_tasks.elmo.bilm import BiLm, BiLmOutput
from elmo_tasks.elmo.characters import batch_to_ids
from elmo_tasks.elmo.options import BiLmOptions
from elmo_tasks.elmo.vectors import ElmoVectors

if TYPE_CHECKING:
    from elmo_tasks.elmo.embedder import ElmoTokenEmbedder

__all__ = ["BiLm", "BiLmOptions", "BiLmOutput", "ElmoTokenEmbedder", "ElmoVectors", "batch_to_ids"]


def __getattr__(name: str) -> Any:
    """`ElmoTokenEmbedder` is an AllenNLP component: it is imported when asked for, not before."""
    if name == "ElmoTokenEmbedder":
        from elmo_tasks.elmo.embedder import ElmoTokenEmbedder

        return ElmoTokenEmbedder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
