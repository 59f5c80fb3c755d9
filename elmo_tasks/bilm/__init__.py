"""
The bidirectional language model and its files. Needs only torch, numpy, h5py and
safetensors.
"""

from elmo_tasks.bilm.bilm import BiLM, LayerOutput
from elmo_tasks.bilm.characters import batch_to_ids
from elmo_tasks.bilm.options import BiLMOptions

__all__ = ["BiLM", "BiLMOptions", "LayerOutput", "batch_to_ids"]
