"""
ELMo for models: the layers of a biLM or another source, the files of the model, their
scalar mix, the layer cache, and files of vectors.
"""

from elmo_tasks.elmo.sentence_embedder import Elmo
from elmo_tasks.elmo.vectors.hdf5_reader import ElmoVectors

__all__ = ["Elmo", "ElmoVectors"]
