"""Base class of the encoders."""

from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from overrides import overrides
from torch import Tensor


class Encoder(Seq2SeqEncoder):
    """
    Maps vectors [B, T, D] and a mask [B, T] to vectors [B, T, `get_output_dim()`],
    which are zero at padding and do not depend on the values there. The mask is True
    for tokens, which are at the start of each row; a row may be empty.
    """

    def __init__(self, *, input_dim: int, output_dim: int) -> None:
        super().__init__()
        self._input_dim = input_dim
        self._output_dim = output_dim

    @overrides
    def get_input_dim(self) -> int:
        return self._input_dim

    @overrides
    def get_output_dim(self) -> int:
        return self._output_dim


def without_padding(vectors: Tensor, mask: Tensor) -> Tensor:
    """
    The vectors [B, T, D], zero at padding: there a NaN would reach the gradients of the
    weights, though it has no effect on the words.
    """
    return vectors.masked_fill(mask.logical_not()[:, :, None], 0.0)


def by_length(mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """
    How to pack the rows of a mask [B, T], longest first: their lengths [B] on the CPU,
    at least 1, so that an empty row runs for one step; the rows in that order [B]; and
    the rank of each row in it [B]. Once for all layers: `pack_padded_sequence` sorts
    in each call, for which the CPU waits for a GPU.
    """
    lengths, order = mask.sum(1).clamp(min=1).sort(descending=True)
    return lengths.cpu(), order, order.argsort()
