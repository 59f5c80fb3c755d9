"""
Sentences -> vectors: all layers of a frozen source, one of them, or their mix, and
which of these a caller gets.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from elmo_tasks.bilm.bilm import LayerOutput
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.scalar_mix import MixSettings, ScalarMix
from elmo_tasks.elmo.trained_mix import is_trained_model, open_trained_mix
from elmo_tasks.errors import InputError, shown
from elmo_tasks.option_values import OUTPUTS
from elmo_tasks.settings import Count, checked
from elmo_tasks.system.version import __version__

Stored = Literal["float32", "float16", "int8"]
"""The data types of vectors in a file."""


@checked
@dataclass(frozen=True, kw_only=True)
class VectorModel:
    """
    Layers with state `reset`, and what is made of them: `output` is `all`, `top` or
    `average`, or a `mix` takes its place. `stored` is the data type of vectors in a
    file: `float32`, `float16`, or `int8` with a scale per token and layer.
    """

    layers: Layers
    output: str = "all"
    mix: ScalarMix | None = None
    stored: Stored = "float32"

    def __post_init__(self) -> None:
        if self.layers.state != "reset":
            raise InputError(
                f"expected a biLM with state reset, got {self.layers.state}"
            )

    @property
    def dtype(self) -> np.dtype:
        """The data type of the vectors in a file."""
        return np.dtype(self.stored).newbyteorder("<")

    @property
    def width(self) -> int:
        """The width D of a vector: 2P with a biLM."""
        return self.layers.output_dim

    @property
    def has_layers(self) -> bool:
        """Whether a sentence's vectors have an axis of layers."""
        return self.output == "all" and self.mix is None

    def settings(self) -> dict[str, str]:
        """What vectors depend on, besides the source's files and the text."""
        settings = {
            "state": self.layers.state,
            "precision": self.layers.precision,
            "output": self.output if self.mix is None else "mix",
            "dtype": self.stored,
            "device": self.layers.device.type,
            "elmo_tasks": __version__,
            "torch": str(torch.__version__),
        }
        if self.mix is not None:
            weights = self.mix.layer_weights().tolist()
            settings["layer_weights"] = json.dumps(weights)
            parameters = {
                key: value.tolist() for key, value in self.mix.state_dict().items()
            }
            if parameters:
                settings["mix"] = json.dumps(parameters)
        return settings

    def shape(self, length: int) -> tuple[int, ...]:
        """
        The shape of the vectors of a sentence: [L+1, T, D], or [T, D] without an axis
        of layers.
        """
        if self.has_layers:
            return self.layers.n_layers, length, self.width
        return length, self.width

    def vectors(self, sentences: list[list[str]], names: list[str]) -> np.ndarray:
        """
        The vectors of a batch, [L, B, T, D]; L is 1 without an axis of layers. Raises
        `InputError` with the name of a sentence if one of its values is not finite in
        the data type.
        """
        vectors = self.of_layers(self.layers.of_words(sentences))  # [L, B, T, D]
        if name := first_not_finite(vectors, names):
            problem = f"{name}: expected finite vectors, got infinity or NaN"
            raise InputError(problem, file=self.layers.name, hint="use other weights")
        if self.stored == "float16":
            vectors = vectors.half()
            if name := first_not_finite(vectors, names):
                problem = f"{name}: a value is too large for float16"
                raise InputError(problem, hint="use float32")
        return vectors.cpu().numpy()

    @torch.no_grad()
    def of_layers(self, output: LayerOutput) -> Tensor:
        """
        The vectors [L, B, T, D] for layers [L+1, B, T, D] with their mask [B, T], on
        the device of the source; L is 1 without an axis of layers.
        """
        layers, mask = output
        if self.mix is not None:
            return self.mix(layers, mask)[None]
        if self.output == "average":
            return layers.mean(0, keepdim=True)
        if self.output == "top":
            return layers[-1:]
        return layers


def first_not_finite(vectors: Tensor, names: list[str]) -> str | None:
    """
    The name of the first of B sentences with NaN or infinity in vectors [L, B, T, D].
    """
    if vectors.sum().isfinite():
        return None  # the usual case, which reads the vectors once
    finite = vectors.isfinite().flatten(2).all(2).all(0).tolist()  # [B]
    return None if all(finite) else names[finite.index(False)]


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
            archive = str(choice)
            if archive not in self._mixes:
                self._mixes[archive] = open_trained_mix(archive, self._layers)
            options["mix"] = self._mixes[archive].to(self._layers.device)
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
