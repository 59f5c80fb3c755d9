"""
Bidirectional LSTM layers of individual sizes (paper, appendix A.7), also after a
feed-forward layer (A.8).
"""

from typing import Annotated

import torch
from allennlp.modules import InputVariationalDropout
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from elmo_tasks.nn.encoder import Encoder, by_length
from elmo_tasks.nn.initialization import glorot
from elmo_tasks.nn.precision import product_type
from elmo_tasks.settings import Probability, Width, checked, not_empty

Widths = Annotated[list[Width], not_empty]
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
        feedforward = glorot(nn.Linear(input_size, feedforward_size))
        lstm = StackedLstm(
            input_size=feedforward_size, hidden_sizes=hidden_sizes, dropout=dropout
        )
        super().__init__(input_dim=input_size, output_dim=lstm.get_output_dim())
        self.feedforward = feedforward
        self.lstm = lstm
        self.feedforward_dropout = nn.Dropout(feedforward_dropout)

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """Words [B, T, D] and their mask [B, T] -> [B, T, 2H] of the highest layer."""
        hidden = self.feedforward(inputs).relu()  # [B, T, feedforward_size]
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
        lengths, order, back = by_length(mask)
        hidden = inputs
        for layer in self.layers:
            # On a CPU, torch's LSTM does not cast its inputs under autocast.
            hidden = self.dropout(hidden).to(product_type(hidden))
            longest_first = hidden.index_select(0, order)
            packed = pack_padded_sequence(longest_first, lengths, batch_first=True)
            outputs, _ = layer(packed)
            padded, _ = pad_packed_sequence(
                outputs, batch_first=True, total_length=mask.shape[1]
            )
            hidden = padded.index_select(0, back)
        return hidden * mask[:, :, None]  # [B, T, 2H]


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
