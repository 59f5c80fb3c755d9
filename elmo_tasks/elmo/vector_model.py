"""Sentences -> vectors: all layers of a frozen source, one of them, or their mix."""

import json
from dataclasses import dataclass

import numpy as np
import torch

import elmo_tasks
from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.characters import MOST_CHARACTERS, batch_to_ids
from elmo_tasks.elmo.cache import LayerCache
from elmo_tasks.elmo.scalar_mix import ScalarMix
from elmo_tasks.elmo.source_types import LayerSource
from elmo_tasks.errors import InputError, explain_oom

OUTPUTS = ("all", "top", "average")
"""All L+1 layers, the top layer, or the mean of all layers."""

STORED = {"float32": "<f4", "float16": "<f2", "int8": "i1"}
"""The data types of vectors in a file, and numpy's names."""


@dataclass(frozen=True, kw_only=True)
class VectorModel:
    """
    A source of layers with state `reset`, which errors call `name`, and what is made of them: `output` is `all`, `top`
    or `average`, or a `mix` takes its place. `stored` is the data type of vectors in a file: `float32`, `float16`, or
    `int8` with a scale per token and layer.
    """

    bilm: LayerSource
    output: str = "all"
    mix: ScalarMix | None = None
    stored: str = "float32"
    cache: LayerCache | None = None
    name: str = "biLM"

    def __post_init__(self) -> None:
        if self.stored not in STORED:
            raise InputError(
                f"stored: expected one of {', '.join(STORED)}, got {self.stored!r}"
            )
        if self.bilm.state != "reset":
            raise InputError(f"expected a biLM with state reset, got {self.bilm.state}")

    @property
    def dtype(self) -> np.dtype:
        """The data type of the vectors in a file."""
        return np.dtype(STORED[self.stored])

    @property
    def has_layers(self) -> bool:
        """Whether a sentence's vectors have an axis of layers."""
        return self.output == "all" and self.mix is None

    @property
    def device(self) -> torch.device:
        return next(self.bilm.parameters()).device

    @property
    def layer_names(self) -> list[str]:
        """The names of the layers, or of the one vector."""
        if self.mix is not None:
            shares = ", ".join(
                f"{share:.3g}" for share in self.mix.layer_weights().tolist()
            )
            return [f"mix of the layers with the weights {shares}"]
        lowest = "context-free" if isinstance(self.bilm, BiLM) else "embeddings"
        names = [
            f"layer 0, {lowest}",
            *(f"layer {layer}" for layer in range(1, self.bilm.n_layers)),
        ]
        chosen = {
            "all": names,
            "top": names[-1:],
            "average": [f"mean of layers 0 to {self.bilm.n_layers - 1}"],
        }
        return chosen[self.output]

    def settings(self) -> dict[str, str]:
        """What vectors depend on, besides the source's files and the text."""
        mix = (
            {}
            if self.mix is None
            else {key: value.tolist() for key, value in self.mix.state_dict().items()}
        )
        return {
            **({"mix": json.dumps(mix)} if mix else {}),
            "state": self.bilm.state,
            "precision": self.bilm.precision,
            "output": self.output if self.mix is None else "mix",
            "layers": json.dumps(self.layer_names),
            "dtype": self.stored,
            "device": self.device.type,
            "elmo_tasks": elmo_tasks.__version__,
            "torch": str(torch.__version__),
        }

    def shape(self, length: int) -> tuple[int, ...]:
        layers = (self.bilm.n_layers,) if self.has_layers else ()
        return (*layers, length, self.bilm.output_dim)

    def vectors(self, sentences: list[list[str]], names: list[str]) -> np.ndarray:
        """
        The vectors of a batch, [L, B, T, D]; L is 1 without an axis of layers. Raises `InputError` with the name of a
        sentence if one of its values is not finite in the data type, or if memory runs out.
        """
        hint = "a smaller --max-tokens or --max-length"
        with explain_oom([len(sentence) for sentence in sentences], names, hint=hint):
            layers = self._layers(sentences)  # [L, B, T, D]
        if name := _first_not_finite(layers, names):
            problem = f"{name}: expected finite vectors, got infinity or NaN"
            raise InputError(problem, file=self.name, hint="use other weights")
        layers = layers.half() if self.stored == "float16" else layers
        if name := _first_not_finite(layers, names):
            raise InputError(
                f"{name}: a value is too large for float16", hint="use float32"
            )
        return layers.cpu().numpy()

    @torch.no_grad()
    def _layers(self, sentences: list[list[str]]) -> torch.Tensor:
        ids = batch_to_ids(sentences, longest=MOST_CHARACTERS).to(self.device)
        layers, mask = (
            self.bilm(ids) if self.cache is None else self.cache.layers(self.bilm, ids)
        )
        if self.mix is not None:
            return self.mix(layers, mask)[None]
        if self.output == "average":
            return layers.mean(0, keepdim=True)
        return layers[-1:] if self.output == "top" else layers


def _first_not_finite(layers: torch.Tensor, names: list[str]) -> str | None:
    """The name of the first of B sentences with NaN or infinity in layers [L, B, T, D]."""
    finite = layers.isfinite().flatten(2).all(2).all(0).tolist()  # [B]
    return None if all(finite) else names[finite.index(False)]
