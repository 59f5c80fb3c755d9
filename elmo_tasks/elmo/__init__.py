"""
ELMo for models: the layers of a biLM or another source, their scalar mix, the layer
cache, and files of vectors.
"""

from elmo_tasks.elmo.hdf5_reader import ElmoVectors
from elmo_tasks.elmo.sentence_embedder import Elmo

__all__ = ["Elmo", "ElmoVectors"]
