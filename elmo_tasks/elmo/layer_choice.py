"""Which of the layers of a source a caller gets, or what mix of them."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.scalar_mix import MixSettings, ScalarMix
from elmo_tasks.elmo.trained_mix import is_trained_model, open_trained_mix
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.errors import InputError, shown
from elmo_tasks.option_values import OUTPUTS
from elmo_tasks.settings import Count

LayerChoice = str | Path | Count
"""
`all`; `top`; `average`; a layer's number from 0; or the path of an archive or of a
training's folder, for the mix that it has learned for the input (for the output with
`:output` after the path).
"""

_CHOICES = f"{', '.join(OUTPUTS)}, the path of an archive"


class LayerChoices:
    """The choices of the layers of one source. A trained mix is opened once."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._mixes: dict[str, ScalarMix] = {}

    def model(self, choice: LayerChoice, **options: Any) -> VectorModel:
        """
        The source with a choice of its layers; `options` are the other arguments of
        `VectorModel`. Raises `InputError` if the choice is not a `LayerChoice`.
        """
        if isinstance(choice, str) and choice in OUTPUTS:
            options["output"] = choice
        elif isinstance(choice, int | np.integer) and not isinstance(choice, bool):
            options["mix"] = self._one_layer(int(choice))
        elif isinstance(choice, str | os.PathLike) and is_trained_model(str(choice)):
            options["mix"] = self._trained_mix(str(choice))
        else:
            problem = f"layers: expected {_CHOICES} or a number"
            raise InputError(f"{problem}, got {shown(choice)}")
        return VectorModel(layers=self._layers, **options)

    def _one_layer(self, layer: int) -> ScalarMix:
        count = self._layers.n_layers
        if not 0 <= layer < count:
            raise InputError(
                f"layers: expected 0 to {count - 1}, or {_CHOICES}, got {layer}"
            )
        return ScalarMix(count, MixSettings(mix=f"layer:{layer}", gamma=False))

    def _trained_mix(self, archive: str) -> ScalarMix:
        if archive not in self._mixes:
            self._mixes[archive] = open_trained_mix(archive, self._layers)
        return self._mixes[archive].to(self._layers.device)
