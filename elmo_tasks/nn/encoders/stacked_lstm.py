"""
The base class of the encoders; and bidirectional LSTM layers of individual sizes (paper,
appendix A.7), also after a feed-forward layer (A.8).
"""

from typing import Annotated

import torch
from allennlp.modules import InputVariationalDropout
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from overrides import overrides
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from elmo_tasks.bilm.precision import product_type
from elmo_tasks.nn.initialization import glorot
from elmo_tasks.nn.linear import Linear
from elmo_tasks.settings import Filled, ListOf, Probability, Width, checked


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


Widths = Annotated[ListOf[Width], Filled]
"""Units of one or more layers, the lowest first."""


@Seq2SeqEncoder.register("elmo_tasks_feedforward_lstm")
class FeedForwardLstm(Encoder):
    """
    A ReLU layer with dropout, then a stacked biLSTM (`StackedLstm`).

    AllenNLP's `compose` does not combine bidirectional encoders with others. The ReLU
    layer is initialized with `glorot`.

    # Parameters

    - `input_size`: width of the input; `InputEncoder` supplies it.
    - `feedforward_size`: units of the ReLU layer.
    - `feedforward_dropout`: dropout on the output of the ReLU layer.
    - `hidden_sizes`: units per direction of each LSTM layer, the lowest first.
    - `dropout`: variational dropout on the input of each LSTM layer.
    """

    @checked
    def __init__(
        self,
        *,
        input_size: Width,
        feedforward_size: Width,
        hidden_sizes: Widths,
        feedforward_dropout: Probability = 0.0,
        dropout: Probability = 0.0,
    ) -> None:
        feedforward = glorot(Linear(input_size, feedforward_size))
        lstm = StackedLstm(
            input_size=feedforward_size, hidden_sizes=hidden_sizes, dropout=dropout
        )
        super().__init__(input_dim=input_size, output_dim=lstm.get_output_dim())
        self.feedforward = feedforward
        self.lstm = lstm
        self.feedforward_dropout = nn.Dropout(feedforward_dropout)

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """Words [B, T, D] and their mask [B, T] -> [B, T, 2H] of the highest layer."""
        words = without_padding(inputs, mask)
        hidden = self.feedforward(words).relu()  # [B, T, feedforward_size]
        return self.lstm(self.feedforward_dropout(hidden), mask)


FORGET_BIAS = 1.0
"""Initial, which the paper does not report (Jozefowicz et al., 2015)."""


@Seq2SeqEncoder.register("elmo_tasks_stacked_lstm")
class StackedLstm(Encoder):
    """
    A stacked biLSTM: layer k reads both directions of layer k - 1, with variational
    dropout before each layer.

    The paper does not report the initialization: here recurrent weights are orthogonal
    and input weights Glorot-uniform, both per gate, and biases 0 except the forget
    gates' (`FORGET_BIAS`).

    # Parameters

    - `input_size`: width of the input; `InputEncoder` supplies it.
    - `hidden_sizes`: units per direction of each layer, the lowest first.
    - `dropout`: variational dropout on the input of each layer.
    """

    @checked
    def __init__(
        self, *, input_size: Width, hidden_sizes: Widths, dropout: Probability = 0.0
    ) -> None:
        super().__init__(input_dim=input_size, output_dim=2 * hidden_sizes[-1])
        self.dropout = InputVariationalDropout(dropout)
        layers = []
        width = input_size
        for size in hidden_sizes:
            layers.append(nn.LSTM(width, size, batch_first=True, bidirectional=True))
            width = 2 * size
        for layer in layers:
            initialize(layer)
        self.layers = nn.ModuleList(layers)

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """Words [B, T, D] and their mask [B, T] -> [B, T, 2H] of the highest layer."""
        batch: _Packed | _Padded
        if _padded_is_faster(inputs, mask):
            batch = _Padded(mask)
        else:
            batch = _Packed(mask)
        hidden = without_padding(inputs, mask)
        for layer in self.layers:
            # On a CPU, torch's LSTM does not cast its inputs under autocast.
            hidden = self.dropout(hidden).to(product_type(hidden))
            hidden = batch.run(layer, hidden)
        return hidden * mask[:, :, None]  # [B, T, 2H]


class _Packed:
    """Runs layers on the words alone, as packed sequences."""

    def __init__(self, mask: Tensor) -> None:
        self._longest = mask.shape[1]
        self._lengths, self._order, self._back = by_length(mask)

    def run(self, layer: nn.Module, inputs: Tensor) -> Tensor:
        """Vectors [B, T, D] -> [B, T, 2H], zero at padding."""
        longest_first = inputs.index_select(0, self._order)
        packed = pack_padded_sequence(longest_first, self._lengths, batch_first=True)
        outputs, _ = layer(packed)
        padded, _ = pad_packed_sequence(
            outputs, batch_first=True, total_length=self._longest
        )
        return padded.index_select(0, self._back)


class _Padded:
    """
    Runs layers on padding, too. On a CPU, torch has a kernel for an LSTM that is not
    packed, and none for a packed one: there each step of the backward pass fills and
    adds a gradient of all steps.

    Padding comes after the words, and so has no effect on them. For the backward
    direction the words of each sentence are mirrored.
    """

    def __init__(self, mask: Tensor) -> None:
        rows, longest = mask.shape
        positions = torch.arange(longest, device=mask.device)  # [T]
        lengths = mask.sum(1)[:, None]  # [B, 1]
        mirrored = positions.where(
            positions >= lengths, lengths - 1 - positions
        )  # [B, T]
        starts = torch.arange(rows, device=mask.device)[:, None] * longest  # [B, 1]
        self._mirrored = (starts + mirrored).flatten()  # [B T]

    def run(self, layer: nn.Module, inputs: Tensor) -> Tensor:
        """Vectors [B, T, D] -> [B, T, 2H], undefined at padding."""
        forward = _one_direction(layer, inputs, "")
        backward = _one_direction(layer, self._mirror(inputs), "_reverse")
        return torch.cat([forward, self._mirror(backward)], 2)

    def _mirror(self, vectors: Tensor) -> Tensor:
        """The vectors [B, T, D] of each sentence in reverse order, padding last."""
        flat = vectors.flatten(0, 1).index_select(0, self._mirrored)  # [B T, D]
        return flat.view(vectors.shape)


def _one_direction(layer: nn.Module, inputs: Tensor, suffix: str) -> Tensor:
    """
    A direction of a layer with one layer, named by the suffix of its parameters: [B, T,
    D] -> [B, T, H].
    """
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    weights = [getattr(layer, name + suffix) for name in names]
    zeros = inputs.new_zeros(1, len(inputs), weights[1].shape[1])
    outputs, _, _ = torch.lstm(
        inputs,
        (zeros, zeros),
        weights,
        has_biases=True,
        num_layers=1,
        dropout=0.0,
        train=layer.training,
        bidirectional=False,
        batch_first=True,
    )
    return outputs


def _padded_is_faster(inputs: Tensor, mask: Tensor) -> bool:
    """
    Whether `_Padded` is faster than `_Packed`: on a CPU, in float32, with at least half
    of the positions words.
    """
    if inputs.device.type != "cpu" or product_type(inputs) != torch.float32:
        return False
    return bool(2 * mask.sum() >= mask.numel())


def initialize(layer: nn.LSTM) -> None:
    """Draws the parameters of a layer, as the docstring of `StackedLstm` says."""
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            if name.startswith("weight_hh"):
                for gate in parameter.chunk(4):
                    nn.init.orthogonal_(gate)
            elif name.startswith("weight_ih"):
                for gate in parameter.chunk(4):
                    nn.init.xavier_uniform_(gate)
            else:
                parameter.zero_()
                if name.startswith("bias_ih"):
                    # torch's order of gates: input, forget, cell, output
                    parameter.chunk(4)[1].fill_(FORGET_BIAS)
