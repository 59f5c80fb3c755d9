"""
Words -> the layers of CoVe (McCann et al. 2017), with which the paper compares ELMo in
sections 4 and 5.1 and in Tables 5 and 6.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from elmo_tasks.bilm.bilm import LayerOutput
from elmo_tasks.bilm.characters import ids_to_text, token_mask
from elmo_tasks.errors import InputError
from elmo_tasks.formats.tensor_files import read_state_dict
from elmo_tasks.formats.vector_files import VectorFile

DEPTH = 2
"""Layers of the LSTM."""

_PREFIX = "rnn."
"""An optional prefix of the names of the weights."""

_WHAT = "CoVe's weights"
_HINT = "the published file has the tensors weight_ih_l0 to bias_hh_l1_reverse"


class CoVe(nn.Module):
    """
    The encoder of a translation model: a bidirectional LSTM of two layers, which reads
    the GloVe vectors of the words.

    It computes layers from character ids as `BiLM` does. The ids spell the words, which
    are looked up as written. A word without a vector is zeros, as in the published
    code. Sentences have no boundary tokens. Layer 0 is the word vector twice, as wide
    as the other layers.

    # Parameters

    - `vectors`: those of the words, of width W.

    Each direction of a layer has W units, so that layers are of width 2W; the published
    model has W = 300.
    """

    state = "reset"

    def __init__(self, vectors: VectorFile) -> None:
        super().__init__()
        self.vectors = vectors
        width = vectors.width
        self.lstms = nn.ModuleList()
        for input_size in (width, 2 * width):
            lstm = nn.LSTM(input_size, width, bidirectional=True, batch_first=True)
            self.lstms.append(lstm)

    @classmethod
    def from_files(cls, vectors_file: str | Path, weight_file: str | Path) -> "CoVe":
        """
        Load a frozen CoVe, in evaluation mode.

        # Parameters

        - `vectors_file`: GloVe 840B, or other vectors that the encoder was trained on,
          not compressed.
        - `weight_file`: the published state dictionary of `nn.LSTM`, from which the
          width is read. Its code, if it has any, is not run.

        Raises `InputError` if a file is missing or invalid, which lists the weights
        that are missing, unused or of another size.
        """
        file = Path(weight_file)
        weights = {}
        for name, tensor in read_state_dict(file, _WHAT).items():
            weights[name.removeprefix(_PREFIX)] = tensor
        width = _width_of(weights, file)
        cove = cls(VectorFile(Path(vectors_file), width=width))
        for depth, lstm in enumerate(cove.lstms):
            of_layer = {}
            for name in lstm.state_dict():
                of_layer[name] = weights[name.replace("_l0", f"_l{depth}")]
            lstm.load_state_dict(of_layer)
        return cove.eval().requires_grad_(False)

    @property
    def output_dim(self) -> int:
        """The width of a layer: 2W."""
        return 2 * self.vectors.width

    @property
    def n_layers(self) -> int:
        """The number of layers, including the word vectors: 3."""
        return DEPTH + 1

    @property
    def dtype(self) -> torch.dtype:
        """The data type of the layers."""
        return next(self.parameters()).dtype

    @property
    def precision(self) -> str:
        """The name of the data type."""
        return str(self.dtype).removeprefix("torch.")

    def forward(self, character_ids: Tensor) -> LayerOutput:
        """
        The layers [3, B, T, 2W] and the mask [B, T] of words with ids [B, T, C]; zero
        for padding.
        """
        mask = token_mask(character_ids)  # [B, T]
        words = self._word_vectors(character_ids[mask])  # [N, W]
        layers = words.new_zeros(self.n_layers, *mask.shape, self.output_dim)
        layers[0, mask] = torch.cat([words, words], -1)
        if mask.any():
            self._encode(layers, mask)
        return LayerOutput(layers, mask)

    def _encode(self, layers: Tensor, mask: Tensor) -> None:
        """Computes the layers above the word vectors."""
        has_words = mask[:, 0]  # [B]
        lengths = mask[has_words].sum(1).cpu()  # [B']
        words = layers[0, has_words, :, : self.vectors.width]  # [B', T, W]
        packed = pack_padded_sequence(
            words, lengths, batch_first=True, enforce_sorted=False
        )
        for depth, lstm in enumerate(self.lstms, start=1):
            packed, _ = lstm(packed)
            layers[depth, has_words], _ = pad_packed_sequence(
                packed, batch_first=True, total_length=mask.shape[1]
            )

    def _word_vectors(self, character_ids: Tensor) -> Tensor:
        """The vectors [N, W] of words with ids [N, C]."""
        found = np.zeros((len(character_ids), self.vectors.width), np.float32)
        for row, word in zip(found, ids_to_text(character_ids), strict=True):
            vector = self.vectors.get(word.encode())
            if vector is not None:
                row[:] = vector
        return torch.from_numpy(found).to(character_ids.device, self.dtype)


def _width_of(weights: Mapping[str, Tensor], file: Path) -> int:
    """
    The units of a direction. Raises `InputError` if the weights are not those of the
    whole LSTM.
    """
    try:
        width = weights["weight_hh_l0"].shape[1]
        with torch.device("meta"):
            lstm = nn.LSTM(width, width, num_layers=DEPTH, bidirectional=True)
        lstm.load_state_dict(weights, assign=True)
    except (KeyError, IndexError, ValueError, RuntimeError) as error:
        problem = f"expected {_WHAT}: {' '.join(str(error).split())}"
        raise InputError(problem, file=file, hint=_HINT) from None
    return width
