"""What a file of vectors is made from: a biLM, the way to tokens, and what is written of them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch

import elmo_tasks
from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.characters import batch_to_ids
from elmo_tasks.elmo.extract_frame import Shape
from elmo_tasks.elmo.windows import require_window
from elmo_tasks.errors import InputError
from elmo_tasks.out_of_memory import explain_oom
from elmo_tasks.ranges import require_sizes

OUTPUTS = ("all", "top", "average")
"""All L+1 layers; the top one; their mean, layer 0 counted."""


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """
    What to write, and how.

    # Parameters

    bilm : `BiLM`
        With `state` reset.
    settings : `Mapping`
        What the vectors come from, in the words of the user: `options_sha256`, `weights_sha256`, `tokenizer`, ...
    parse : `Callable`
        Gives the tokens of a line.
    output : `str`
        `all`, `top` or `average`.
    float16 : `bool`
        Else float32.
    max_length, overlap : `int`
        A sentence of more tokens is cut into windows that share so many; see `windows`. Each window is read as a
        sentence of its own.
    batch_size, max_tokens : `int`
        Windows of a batch, and tokens, padding included, at most.

    # Raises

    `InputError`
        If a value is none of these.
    """

    bilm: BiLM
    settings: Mapping[str, str | int]
    parse: Callable[[str], list[str]] = field(default=str.split)
    output: str = "all"
    float16: bool = False
    max_length: int = 512
    overlap: int = 128
    batch_size: int = 64
    max_tokens: int = 4096

    def __post_init__(self) -> None:
        require_window(self.max_length, self.overlap)
        require_sizes(batch_size=self.batch_size, max_tokens=self.max_tokens)
        if self.output not in OUTPUTS:
            raise InputError(f"output must be one of {', '.join(OUTPUTS)}, found {self.output!r}")
        if self.bilm.state != "reset":
            raise InputError(f"the biLM's state must be reset, found {self.bilm.state}")

    @property
    def shape(self) -> Shape:
        """What is written for a sentence."""
        layers = self.bilm.n_layers if self.output == "all" else None
        return Shape(layers, self.bilm.output_dim, np.dtype("<f2" if self.float16 else "<f4"))

    @property
    def attributes(self) -> dict[str, str | int]:
        """What a file says of itself, and must say to be gone on with."""
        return {
            **self.settings,
            "state": self.bilm.state,
            "precision": self.bilm.precision,
            "output": self.output,
            "layers": _layer_names(self.output, self.bilm.n_layers),
            "dtype": "float16" if self.float16 else "float32",
            "max_length": self.max_length,
            "overlap": self.overlap,
            "device": self.bilm.boundaries.device.type,
            "elmo_tasks": elmo_tasks.__version__,
            "torch": str(torch.__version__),
        }

    def vectors(self, sentences: list[list[str]], names: list[str]) -> np.ndarray:
        """
        What is written of a batch, shape [L, B, T, D], with one layer for `top` and `average`.

        # Parameters

        sentences : `list[list[str]]`
        names : `list[str]`
            What each is called in messages.

        # Raises

        `InputError` where a value is not finite, or too large for float16, or memory runs out.
        """
        hint = "a smaller --max-tokens or --max-length"
        with explain_oom([len(sentence) for sentence in sentences], names, hint=hint):
            layers = self._layers(sentences)  # [L, B, T, D]
        if (name := _first_not_finite(layers, names)) is not None:
            problem = f"{name}: expected finite vectors, got infinity or NaN"
            hint = "the biLM's weights overflow: use another biLM"
            raise InputError(problem, file=str(self.settings.get("weight_file", "biLM")), hint=hint)
        if self.float16:
            layers = layers.half()
            if (name := _first_not_finite(layers, names)) is not None:
                raise InputError(f"{name}: a value is too large for float16", hint="use float32")
        return layers.cpu().numpy()

    @torch.no_grad()
    def _layers(self, sentences: list[list[str]]) -> torch.Tensor:
        layers = self.bilm(batch_to_ids(sentences).to(self.bilm.boundaries.device)).layers
        if self.output == "average":
            return layers.mean(0, keepdim=True)
        return layers[-1:] if self.output == "top" else layers


def _first_not_finite(layers: torch.Tensor, names: list[str]) -> str | None:
    """The name of the first of B sentences with a NaN or an infinity in [L, B, T, D]."""
    finite = layers.isfinite().flatten(2).all(2).all(0).tolist()  # [B]
    return None if all(finite) else names[finite.index(False)]


def _layer_names(output: str, n_layers: int) -> str:
    """JSON, as all of an attribute that is more than a number or a text."""
    names = ["layer 0, context-free", *(f"layer {layer}" for layer in range(1, n_layers))]
    chosen = {"all": names, "top": names[-1:], "average": [f"mean of layers 0 to {n_layers - 1}"]}
    return json.dumps(chosen[output])
