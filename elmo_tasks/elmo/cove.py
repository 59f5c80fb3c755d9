"""Words -> the layers of CoVe (McCann et al. 2017), with which the paper compares in Tables 2, 5 and 6."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from elmo_tasks.bilm.bilm import BiLMOutput
from elmo_tasks.bilm.characters import fit_slots, ids_to_words, token_mask
from elmo_tasks.elmo.state_dicts import read_tensors, require_finite
from elmo_tasks.errors import InputError
from elmo_tasks.formats.vector_files import VectorFile

DEPTH = 2
"""LSTM layers."""

_PREFIX = "rnn."
"""An optional prefix of the names of the weights."""

WHAT = "CoVe's weights"

_HINT = "the published file is a state dictionary of weight_ih_l0 to bias_hh_l1_reverse"


class CoVe(nn.Module):
    """
    The encoder of a translation model over word vectors: two biLSTM layers of 300 units per direction over GloVe.

    It computes layers as `BiLM` does, from the same character ids, which spell the words. Unknown words are zeros, as
    are words of 48 bytes or more, which the ids truncate, and sentence boundaries. Sentences have no boundary tokens.

    # Parameters

    - `vectors`: of width W.
    - `hidden_dim`: units of each direction (P); W, since layer 0 is the word vector twice, as layer 0 of the biLM is.
    """

    state = "reset"

    def __init__(self, vectors: VectorFile, *, hidden_dim: int = 300) -> None:
        super().__init__()
        self.vectors, self._hidden_dim = vectors, hidden_dim
        widths = [vectors.width] + [2 * hidden_dim] * (DEPTH - 1)
        lstms = (nn.LSTM(width, hidden_dim, bidirectional=True, batch_first=True) for width in widths)
        self.lstms: Sequence[nn.LSTM] = nn.ModuleList(lstms)  # type: ignore[assignment]

    @classmethod
    def from_files(cls, vectors_file: str | Path, weight_file: str | Path) -> "CoVe":
        """
        Load a frozen CoVe, in evaluation mode and without gradients.

        # Parameters

        - `vectors_file`: GloVe 840B with 300 numbers a word, plain text.
        - `weight_file`: the published state dictionary, which determines the sizes. Pickled code is not run.

        Raises `InputError` if a file cannot be read, or listing every weight that is missing, unused or invalid.
        """
        found = read_tensors(Path(weight_file), WHAT, hint=_HINT)
        weights = {name.removeprefix(_PREFIX): value for name, value in found.items()}
        hidden_dim = _hidden_dim(weights, Path(weight_file))
        _check_weights(weights, hidden_dim, Path(weight_file))
        cove = cls(VectorFile(Path(vectors_file), width=hidden_dim), hidden_dim=hidden_dim)
        for layer, lstm in enumerate(cove.lstms):
            own = {name: weights[name.replace("_l0", f"_l{layer}")].float() for name in lstm.state_dict()}
            lstm.load_state_dict(own)
        return cove.eval().requires_grad_(False)

    @property
    def output_dim(self) -> int:
        """Width of a layer's vector: 2P."""
        return 2 * self._hidden_dim

    @property
    def n_layers(self) -> int:
        """Number of layers including the word vectors: L+1."""
        return len(self.lstms) + 1

    @property
    def dtype(self) -> torch.dtype:
        """The data type of the computation."""
        return next(self.parameters()).dtype

    @property
    def precision(self) -> str:
        """The name of the data type of the computation."""
        return str(self.dtype).removeprefix("torch.")

    def forward(self, character_ids: Tensor) -> BiLMOutput:
        """The layers of words with ids [B, T, C], as from `batch_to_ids`."""
        mask = token_mask(character_ids)  # [B, T]
        character_ids = fit_slots(character_ids)  # [B, T, 50]
        words = self._word_vectors(character_ids[mask])  # [N, W]
        layers = words.new_zeros(self.n_layers, *mask.shape, self.output_dim)  # [L+1, B, T, 2P]
        layers[0, mask] = torch.cat([words, words], -1)
        if mask.any():
            self._encode(layers, mask)
        return BiLMOutput(layers, mask)

    def _encode(self, layers: Tensor, mask: Tensor) -> None:
        """Layers 1 to L from layer 0."""
        rows = mask[:, 0]  # [B], the sentences with tokens
        lengths = mask[rows].sum(1).cpu()
        words = layers[0, rows, :, : self._hidden_dim]  # [B', T, W]
        packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
        for layer, lstm in enumerate(self.lstms, start=1):
            packed, _ = lstm(packed)
            layers[layer, rows], _ = pad_packed_sequence(packed, batch_first=True, total_length=mask.shape[1])

    def _word_vectors(self, character_ids: Tensor) -> Tensor:
        """Vectors [N, W] of the words with ids [N, 50]."""
        found = np.zeros((len(character_ids), self.vectors.width), np.float32)
        for row, word in zip(found, ids_to_words(character_ids), strict=True):
            vector = None if word is None else self.vectors.get(word)
            if vector is not None:
                row[:] = vector
        return torch.from_numpy(found).to(character_ids.device, self.dtype)


def _hidden_dim(weights: Mapping[str, Tensor], file: Path) -> int:
    """Units of a direction."""
    first = weights.get("weight_hh_l0")
    if first is None or first.dim() != 2 or not first.shape[1]:
        names = ", ".join(sorted(weights)) or "nothing"
        raise InputError(f"expected CoVe's weights, got {names}", file=file, hint=_HINT)
    return first.shape[1]


def _check_weights(weights: Mapping[str, Tensor], hidden_dim: int, file: Path) -> None:
    with torch.device("meta"):
        lstm = nn.LSTM(hidden_dim, hidden_dim, num_layers=DEPTH, bidirectional=True)
    try:
        lstm.load_state_dict(weights, assign=True)
    except RuntimeError as error:
        problems = " ".join(str(error).split())
        raise InputError(f"these are not CoVe's weights: {problems}", file=file) from None
    require_finite(weights, WHAT, file)
