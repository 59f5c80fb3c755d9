"""Keras 3 on torch: a layer of ELMo vectors."""

from typing import Any

import torch
from torch import Tensor

from elmo_tasks.elmo.sentence_embedder import Elmo
from elmo_tasks.errors import InputError, needs

with needs("keras"):
    import keras

if keras.backend.backend() != "torch":
    problem = f"expected Keras on torch, got {keras.backend.backend()}"
    raise InputError(problem, hint="set KERAS_BACKEND=torch before keras is imported")


@keras.saving.register_keras_serializable("elmo_tasks")
class ElmoLayer(keras.layers.Layer):
    """
    ELMo vectors [B, T, 2P] of the character ids [B, T, 50] of `batch_to_ids`: the
    frozen layers of `Elmo.from_pretrained(model)`, mixed by trained weights (Eq. 1).
    The layers after it get the mask of the words. A saved model has the name of the
    ELMo model.
    """

    def __init__(self, model: str | None = None, **keys: Any) -> None:
        super().__init__(**keys)
        self.autocast = False  # ids do not survive a rounding to bfloat16
        self.model = model
        self.elmo = Elmo.from_pretrained(model)
        shape = (self.elmo.n_layers,)
        self.mix = self.add_weight(shape=shape, initializer="zeros", name="mix")
        self.gamma = self.add_weight(shape=(), initializer="ones", name="gamma")

    def call(self, ids: Tensor) -> Tensor:
        layers = self.elmo(ids.long()).vectors  # [L+1, B, T, 2P]
        weights = torch.softmax(self.mix.value, 0)  # [L+1]
        layers = layers.to(ids.device, weights.dtype)
        mixed = self.gamma.value * torch.einsum("l,lbtd->btd", weights, layers)
        return keras.ops.cast(mixed, self.compute_dtype)

    def compute_mask(self, ids: Tensor, previous_mask: Any = None) -> Tensor:
        return keras.ops.any(ids > 0, axis=-1)  # [B, T]

    def compute_output_shape(self, shape: tuple[int | None, ...]) -> tuple[Any, ...]:
        return (*shape[:2], self.elmo.dimension)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "model": self.model}
