"""Sentences -> the vectors that `allennlp elmo` writes."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch

import elmo_tasks
from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.characters import LONGEST, batch_to_ids
from elmo_tasks.elmo.sources import LayerSource
from elmo_tasks.elmo.windows import check_window
from elmo_tasks.errors import InputError
from elmo_tasks.out_of_memory import explain_oom
from elmo_tasks.ranges import require_sizes

OUTPUTS = ("all", "top", "average")
"""All L+1 layers, the top layer, or the mean of all layers."""


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """
    A source of layers and the settings of a file of vectors.

    # Parameters

    bilm : `LayerSource`
        With state `reset`.
    settings : `Mapping`
        Further attributes of the file: `input`, `options_sha256`, `weights_sha256`, `tokenizer`, ...
    parse : `Callable`
        Splits a line into tokens.
    output : `str`
        `all`, `top` or `average`.
    float16 : `bool`
        Whether to write float16 instead of float32.
    max_length, overlap : `int`
        Longer sentences are split into windows of `max_length` tokens that share `overlap` tokens.
    batch_size, max_tokens : `int`
        The largest number of windows and of tokens with padding in a batch.

    # Raises

    `InputError` if a value is invalid.
    """

    bilm: LayerSource
    settings: Mapping[str, str | int]
    parse: Callable[[str], list[str]] = field(default=str.split)
    output: str = "all"
    float16: bool = False
    max_length: int = 512
    overlap: int = 128
    batch_size: int = 64
    max_tokens: int = 4096

    def __post_init__(self) -> None:
        check_window(self.max_length, self.overlap)
        require_sizes(batch_size=self.batch_size, max_tokens=self.max_tokens)
        if self.output not in OUTPUTS:
            raise InputError(f"output: expected one of {', '.join(OUTPUTS)}, got {self.output!r}")
        if self.bilm.state != "reset":
            raise InputError(f"expected a biLM with state reset, got {self.bilm.state}")

    @property
    def device(self) -> torch.device:
        """Where the layers are computed."""
        return next(self.bilm.parameters()).device

    @property
    def dtype(self) -> np.dtype:
        """The data type of the vectors in the file."""
        return np.dtype("<f2" if self.float16 else "<f4")

    def shape(self, length: int) -> tuple[int, ...]:
        """The shape of the vectors of a sentence of `length` tokens."""
        layers = (self.bilm.n_layers,) if self.output == "all" else ()
        return (*layers, length, self.bilm.output_dim)

    @property
    def attributes(self) -> dict[str, str | int]:
        """The attributes of the file that depend on the settings alone."""
        return {
            **self.settings,
            "state": self.bilm.state,
            "precision": self.bilm.precision,
            "output": self.output,
            "layers": self._layer_names(),
            "dtype": "float16" if self.float16 else "float32",
            "max_length": self.max_length,
            "overlap": self.overlap,
            "device": self.device.type,
            "elmo_tasks": elmo_tasks.__version__,
            "torch": str(torch.__version__),
        }

    def vectors(self, sentences: list[list[str]], names: list[str]) -> np.ndarray:
        """
        The vectors of a batch, shape [L, B, T, D]; L is 1 for the outputs `top` and `average`.

        Raises `InputError` with the name of a sentence if one of its values is not finite in the file's data type, or
        if memory runs out.
        """
        hint = "a smaller --max-tokens or --max-length"
        with explain_oom([len(sentence) for sentence in sentences], names, hint=hint):
            layers = self._layers(sentences)  # [L, B, T, D]
        if name := _first_not_finite(layers, names):
            file = str(self.settings.get("weight_file", "biLM"))
            raise InputError(
                f"{name}: expected finite vectors, got infinity or NaN", file=file, hint="use another biLM"
            )
        layers = layers.half() if self.float16 else layers
        if name := _first_not_finite(layers, names):
            raise InputError(f"{name}: a value is too large for float16", hint="use float32")
        return layers.cpu().numpy()

    @torch.no_grad()
    def _layers(self, sentences: list[list[str]]) -> torch.Tensor:
        layers = self.bilm(batch_to_ids(sentences, longest=LONGEST).to(self.device)).layers
        if self.output == "average":
            return layers.mean(0, keepdim=True)
        return layers[-1:] if self.output == "top" else layers

    def _layer_names(self) -> str:
        """The names of the layers in the file, as JSON."""
        lowest = "context-free" if isinstance(self.bilm, BiLM) else "embeddings"
        names = [f"layer 0, {lowest}", *(f"layer {layer}" for layer in range(1, self.bilm.n_layers))]
        mean = f"mean of layers 0 to {self.bilm.n_layers - 1}"
        return json.dumps({"all": names, "top": names[-1:], "average": [mean]}[self.output])


def _first_not_finite(layers: torch.Tensor, names: list[str]) -> str | None:
    """The name of the first of B sentences with NaN or infinity in layers [L, B, T, D]."""
    finite = layers.isfinite().flatten(2).all(2).all(0).tolist()  # [B]
    return None if all(finite) else names[finite.index(False)]
