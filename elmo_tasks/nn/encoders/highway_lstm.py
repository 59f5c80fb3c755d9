"""
The encoder of SRL: highway LSTM layers of alternating direction (paper, appendix A.5;
He et al., 2017).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import torch
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from elmo_tasks.bilm.derivatives import first_derivative_only
from elmo_tasks.bilm.packed_linear import packed_linear
from elmo_tasks.bilm.precision import PRECISIONS, announced_precision, product_type
from elmo_tasks.nn.encoders.highway_cell import step, step_back
from elmo_tasks.nn.encoders.stacked_lstm import Encoder, by_length, without_padding
from elmo_tasks.nn.linear import at_least_float32, summed_products
from elmo_tasks.option_values import Precision
from elmo_tasks.settings import Depth, Probability, Width, checked

FORGET_BIAS = 1.0  # initial (appendix A.5)


@Seq2SeqEncoder.register("elmo_tasks_highway_lstm")
class HighwayLstm(Encoder):
    """
    Highway LSTM layers of alternating direction: layer 0 reads each sentence forward,
    layer 1 reads the output of layer 0 backward, and so on.

    # Parameters

    - `input_size`: width of the input; `InputEncoder` supplies it.
    - `hidden_size`: units of each layer (H).
    - `num_layers`: number of layers.
    - `dropout`: variational dropout (Gal and Ghahramani, 2016): each layer draws one
      mask per sentence and applies it to `h_t` of all tokens.
    - `dropout_outputs`: if true, the next layer reads the masked `h_t`, too, as in He
      et al.'s code; if false, the mask applies only to the layer's own recurrence, as
      in AllenNLP.
    - `precision`: data type of the matrix products; cells and gates are in float32,
      outputs in the weights' type. If null, that of `torch.autocast` if enabled, else
      the inputs'.
    """

    @checked
    def __init__(
        self,
        *,
        input_size: Width,
        hidden_size: Width,
        num_layers: Depth,
        dropout: Probability = 0.0,
        dropout_outputs: bool = True,
        precision: Optional[Precision] = None,
    ) -> None:
        super().__init__(input_dim=input_size, output_dim=hidden_size)
        self.layers = nn.ModuleList()
        width = input_size
        for depth in range(num_layers):
            layer = HighwayLstmLayer(
                input_size=width, hidden_size=hidden_size, backward=depth % 2 == 1
            )
            self.layers.append(layer)
            width = hidden_size
        self._dropout = dropout
        self._dropout_outputs = dropout_outputs
        self._precision = precision

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """Words [B, T, D] and their mask [B, T] -> [B, T, H]."""
        lengths, order, back = by_length(mask)
        # An empty row runs for one step, of padding.
        words = without_padding(inputs, mask).index_select(0, order)
        packed = pack_padded_sequence(words, lengths, batch_first=True)
        batch_sizes = packed.batch_sizes.tolist()
        hidden = packed.data  # [N, D]
        dtype = None
        if self._precision is not None:
            dtype = PRECISIONS[announced_precision(inputs.device, self._precision)]
        for layer in self.layers:
            kept = self._dropout_mask(hidden, rows=batch_sizes[0])  # [B, H]
            hidden = layer(hidden, batch_sizes, kept, precision=dtype)
            if self.training and self._dropout and self._dropout_outputs:
                of_words = torch.cat([kept[:rows] for rows in batch_sizes])  # [N, H]
                hidden = hidden * of_words.to(hidden.dtype)
        unpacked = PackedSequence(hidden, packed.batch_sizes)
        padded, _ = pad_packed_sequence(
            unpacked, batch_first=True, total_length=mask.shape[1]
        )
        return padded.index_select(0, back) * mask[:, :, None]  # [B, T, H]

    def _dropout_mask(self, hidden: Tensor, *, rows: int) -> Tensor:
        """A layer's mask [B, H]: 0 or 1 / (1 - p) during training, 1 otherwise."""
        shape = (rows, self._output_dim)
        device = hidden.device
        if not self.training or not self._dropout:
            return torch.ones(shape, device=device)
        kept = torch.rand(shape, device=device) > self._dropout
        return kept.float().div(1.0 - self._dropout)


class HighwayLstmLayer(nn.Module):
    """
    One layer, which may read each sentence `backward`, on packed sequences.

    The pre-activations of the gates are `W_x x_t + [W_h (m h_(t-1)), 0] + b`, m being
    the dropout's mask; `highway_cell` has what follows from them.

    Each of the six and five blocks of weights is initialized orthogonally, biases with
    0 except the forget gate's. The bias of k is in the authors' code but not in the
    paper's equations.
    """

    def __init__(self, *, input_size: int, hidden_size: int, backward: bool) -> None:
        super().__init__()
        self.backward = backward
        self.input_weight = nn.Parameter(torch.empty(6 * hidden_size, input_size))
        self.hidden_weight = nn.Parameter(torch.empty(5 * hidden_size, hidden_size))
        self.bias = nn.Parameter(torch.zeros(6 * hidden_size))
        with torch.no_grad():
            blocks = self.input_weight.chunk(6) + self.hidden_weight.chunk(5)
            for block in blocks:
                nn.init.orthogonal_(block)
            self.bias.chunk(6)[1].fill_(FORGET_BIAS)

    def forward(
        self,
        inputs: Tensor,
        batch_sizes: Sequence[int],
        kept: Tensor,
        *,
        precision: torch.dtype | None = None,
    ) -> Tensor:
        """
        Packed sequences [N, D], as in `PackedSequence.data`, the number of rows of each
        step in descending order, the dropout mask m [B, H] and the precision (see
        `HighwayLstm`) -> [N, H].
        """
        spans = _spans(batch_sizes)
        if self.backward:
            spans.reverse()
        dtype = precision or product_type(inputs)
        with torch.autocast(inputs.device.type, enabled=False):
            outputs: Tensor = _Layer.apply(
                inputs.to(dtype),
                self.input_weight.to(dtype),
                self.hidden_weight.to(dtype),
                self.bias.to(dtype),
                kept,
                spans,
            )
            return outputs.to(self.bias.dtype)


def _spans(batch_sizes: Sequence[int]) -> list[slice]:
    """The rows of each step in packed sequences."""
    spans = []
    start = 0
    for rows in batch_sizes:
        spans.append(slice(start, start + rows))
        start += rows
    return spans


class _SavedTensors(NamedTuple):
    """What the backward pass needs, a row per token."""

    gates: Tensor  # [N, 6H], activated
    received: Tensor  # [N, H]: the recurrent input m h_(t-1), in the products' type
    carried: Tensor  # [N, H]: the cell c_(t-1)
    squashed: Tensor  # [N, H]: q = tanh(c_t)


def _scan(
    inputs: Tensor,
    input_weight: Tensor,
    hidden_weight: Tensor,
    bias: Tensor,
    kept: Tensor,
    spans: Sequence[slice],
) -> tuple[Tensor, _SavedTensors]:
    """
    Outputs [N, H] and saved tensors of one layer, which processes the steps in the
    order of `spans`. The input products of all steps are computed at once. Rows that
    start late, in a backward layer, find zeros in the state.
    """
    rows, width = kept.shape
    gates = at_least_float32(packed_linear(input_weight, bias)(inputs))  # [N, 6H]
    recur = packed_linear(hidden_weight)
    received = inputs.new_zeros(len(inputs), width)  # [N, H]
    carried = gates.new_empty(len(inputs), width)  # [N, H]
    squashed = gates.new_empty(len(inputs), width)  # [N, H]
    outputs = gates.new_empty(len(inputs), width)  # [N, H]
    cell = gates.new_zeros(rows, width)  # [B, H]
    hidden = gates.new_zeros(rows, width)  # [B, H]
    for number, span in enumerate(spans):
        running = slice(span.stop - span.start)
        if number:  # before the first step h is 0, and so is its product
            received[span] = hidden[running]
            gates[span, : 5 * width].add_(recur(received[span]))
        carried[span] = cell[running]
        step(gates[span], cell[running], squashed[span], outputs[span])
        torch.mul(outputs[span], kept[running], out=hidden[running])
    return outputs, _SavedTensors(gates, received, carried, squashed)


class _Layer(torch.autograd.Function):
    """
    `_scan` with a custom gradient: one small product per step, and one product for each
    weight's gradient.
    """

    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> Tensor:
        inputs, input_weight, hidden_weight, _, kept, ctx.spans = arguments
        outputs, saved = _scan(*arguments)
        ctx.save_for_backward(inputs, input_weight, hidden_weight, kept, *saved)
        return outputs

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        inputs, input_weight, hidden_weight, kept, *parts = ctx.saved_tensors
        saved = _SavedTensors(*parts)
        (d_outputs,) = gradients  # [N, H]
        d_gates = _scan_back(d_outputs, saved, hidden_weight, kept, ctx.spans)
        d_recurrent = d_gates[:, : hidden_weight.shape[0]]  # [N, 5H]
        return (
            packed_linear(input_weight.t())(d_gates),  # [N, D]
            summed_products(d_gates, inputs),
            summed_products(d_recurrent, saved.received),
            d_gates.sum(0),
            None,
            None,
        )


def _scan_back(
    d_outputs: Tensor,
    saved: _SavedTensors,
    hidden_weight: Tensor,
    kept: Tensor,
    spans: Sequence[slice],
) -> Tensor:
    """
    The gradient [N, 6H] with respect to the pre-activations of the gates, from that of
    the outputs [N, H].
    """
    gates, _, carried, squashed = saved
    rows, width = kept.shape
    recur = packed_linear(hidden_weight.t())
    d_gates = torch.empty_like(gates, dtype=hidden_weight.dtype)  # [N, 6H]
    d_cell = gates.new_zeros(rows, width)
    d_hidden = gates.new_zeros(rows, width)
    for number in reversed(range(len(spans))):
        span = spans[number]
        running = slice(span.stop - span.start)
        d_output = d_hidden[running].add_(d_outputs[span])
        d_gates[span] = step_back(
            d_output, d_cell[running], gates[span], carried[span], squashed[span]
        )
        if number:
            d_received = recur(d_gates[span, : 5 * width])  # [rows, H]
            torch.mul(d_received, kept[running], out=d_hidden[running])
    return d_gates
