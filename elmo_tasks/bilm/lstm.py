"""Token vectors -> hidden states: a projected LSTM with clipping, in one direction (paper, section 3.1)."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.bilm.packed_linear import (
    Linear,
    PackableModule,
    needs_grad,
    packed_linear,
)

FORGET_BIAS = 1.0
"""Added to the forget gate in the forward pass; files and parameters hold the bias without it, as in TensorFlow."""

TOKENS_AT_ONCE = 128
"""Packed tokens whose input products are held in memory at once without gradients: 8 MB at the paper's size."""

State = tuple[Tensor, Tensor]
"""The cell state [B, H] and the clipped, projected output [B, P] of each row."""


class ProjectedLstm(PackableModule):
    """
    An LSTM layer over packed sequences whose cell state is clipped and whose output is projected and clipped:

    `i, o, f, j = split(W_x x_t + W_h h_(t-1) + b)`,
    `c_t = clip(sigmoid(f + 1) c_(t-1) + sigmoid(i) tanh(j))`,
    `h_t = clip(W_p (sigmoid(o) tanh(c_t)))`.

    `W_x x_t` is computed for all steps at once; only `W_h h_(t-1)` and the projection are sequential. In the options,
    `dim` is H, `projection_dim` P. Without `initialize`, the weights must be loaded.
    """

    packable = ("input_weight", "hidden_weight", "projection")
    forget_bias: Tensor

    def __init__(self, options: BiLMOptions, *, initialize: bool = True) -> None:
        super().__init__()
        self.dim, self.projection_dim = dim, projection_dim = (
            options.dim,
            options.projection_dim,
        )
        self.cell_clip, self.proj_clip = (
            options.cell_clip or None,
            options.proj_clip or None,
        )
        self.input_weight = nn.Parameter(torch.empty(4 * dim, projection_dim))
        self.hidden_weight = nn.Parameter(torch.empty(4 * dim, projection_dim))
        self.bias = nn.Parameter(torch.empty(4 * dim))
        self.projection = nn.Parameter(torch.empty(projection_dim, dim))
        forget = torch.zeros(4 * dim)
        forget[2 * dim : 3 * dim] = FORGET_BIAS
        self.register_buffer("forget_bias", forget, persistent=False)
        if initialize:
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Glorot-uniform over the joint kernel of input and recurrence, as in TensorFlow; bias 0."""
        bound = (6.0 / (2 * self.projection_dim + 4 * self.dim)) ** 0.5
        nn.init.uniform_(self.input_weight, -bound, bound)
        nn.init.uniform_(self.hidden_weight, -bound, bound)
        nn.init.xavier_uniform_(self.projection)
        nn.init.zeros_(self.bias)

    def initial_state(self, rows: int) -> State:
        return self.bias.new_zeros(rows, self.dim), self.bias.new_zeros(
            rows, self.projection_dim
        )

    def forward(
        self,
        inputs: Tensor,
        batch_sizes: Sequence[int],
        state: State,
        *,
        precision: torch.dtype | None = None,
    ) -> tuple[Tensor, State]:
        """
        # Parameters

        - `inputs`, [N, P]: packed sequences, as in `torch.nn.utils.rnn.PackedSequence`: step 0 of all rows, then step
          1, and so on.
        - `batch_sizes`: the number of rows at each step, non-increasing; its sum is N.
        - `state`: the initial cell state [B, H] and output [B, P].
        - `precision`: data type of the matrix products; cell states and outputs have that of the inputs. Default: that
          of the inputs.

        Returns the outputs [N, P], and the state of each row after its last step.
        """
        dtype = precision or inputs.dtype
        grad = needs_grad(self, inputs, *state)
        to_gates = self.linear(
            "input_weight", self.bias + self.forget_bias, dtype=dtype, grad=grad
        )
        if grad:
            weights = (
                weight.to(dtype) for weight in (self.hidden_weight, self.projection)
            )
            outputs, *last = _Scan.apply(
                to_gates(inputs), *weights, *state, tuple(batch_sizes), self._clips
            )
            return outputs, (last[0], last[1])
        recur = self.linear("hidden_weight", dtype=dtype, grad=False)
        project = self.linear("projection", dtype=dtype, grad=False)
        outputs = inputs.new_empty(len(inputs), self.projection_dim)  # [N, P]
        start = 0
        for sizes in _parts(batch_sizes):
            part = slice(start, start + sum(sizes))
            outputs[part], *last = _scan(
                to_gates(inputs[part]), recur, project, *state, sizes, self._clips
            )
            state = (last[0], last[1])
            start = part.stop
        return outputs, state

    @property
    def _clips(self) -> tuple[float | None, float | None]:
        return self.cell_clip, self.proj_clip


class LstmStack(nn.Module):
    """
    The LSTM layers of one direction. With skip connections, each layer after the first adds its input (after dropout)
    to its output; the recurrent state excludes that sum.
    """

    def __init__(self, options: BiLMOptions, *, initialize: bool = True) -> None:
        super().__init__()
        self.use_skip_connections = options.use_skip_connections
        layers = (
            ProjectedLstm(options, initialize=initialize)
            for _ in range(options.n_layers)
        )
        self.layers: Sequence[ProjectedLstm] = nn.ModuleList(layers)  # type: ignore[assignment]

    def initial_states(self, rows: int) -> list[State]:
        return [layer.initial_state(rows) for layer in self.layers]

    def forward(
        self,
        inputs: Tensor,
        batch_sizes: Sequence[int],
        states: Sequence[State],
        *,
        dropout: float = 0.0,
        precision: torch.dtype | None = None,
    ) -> tuple[list[Tensor], list[State]]:
        """
        The outputs [N, P] of the L layers for packed inputs [N, P], and the last state of each layer; see
        `ProjectedLstm.forward`. `dropout` is the probability of an element of a layer's input to be zeroed.
        """
        outputs: list[Tensor] = []
        finals: list[State] = []
        for depth, (layer, state) in enumerate(zip(self.layers, states, strict=True)):
            dropped = functional.dropout(inputs, dropout, training=dropout > 0.0)
            hidden, final = layer(dropped, batch_sizes, state, precision=precision)
            inputs = (
                hidden + dropped if depth and self.use_skip_connections else hidden
            )  # [N, P]
            outputs.append(inputs)
            finals.append(final)
        return outputs, finals


def _parts(batch_sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Split the steps into parts of at most `TOKENS_AT_ONCE` tokens, or one step: memory is independent of length."""
    part: list[int] = []
    for rows in batch_sizes:
        if part and sum(part) + rows > TOKENS_AT_ONCE:
            yield tuple(part)
            part = []
        part.append(rows)
    yield tuple(part)


def _scan(
    gates: Tensor,
    recur: Linear,
    project: Linear,
    cell: Tensor,
    hidden: Tensor,
    batch_sizes: tuple[int, ...],
    clips: tuple[float | None, float | None],
    record: list[Tensor] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """
    The recurrence over packed input products `gates` [N, 4H]; returns outputs [N, P], last cell state and last output.

    `recur` maps outputs [n, P] to gates [n, 4H], `project` maps [n, H] to outputs [n, P]. If `record` is given, it
    collects what the backward pass needs of each step: activated gates, cell state before and after, tanh of the cell
    state. `tanh(x)` is computed as `2 sigmoid(2x) - 1`, equal to 2e-7: the sigmoid is several times as fast on CPUs.
    """
    width = cell.shape[1]
    cell_clip, proj_clip = clips
    cell, hidden = cell.clone(), hidden.clone()
    outputs = hidden.new_empty(gates.shape[0], hidden.shape[1])  # [N, P]
    start = 0
    for rows in batch_sizes:
        step = gates[start : start + rows]
        active = recur(hidden[:rows]).add_(step)
        active = active.to(cell.dtype)  # [rows, 4H]
        active[:, 3 * width :].mul_(2.0)
        i, o, f, candidate = active.sigmoid_().chunk(4, 1)
        candidate.mul_(2.0).sub_(1.0)
        new_cell = torch.mul(f, cell[:rows]).addcmul_(i, candidate)
        if cell_clip is not None:
            new_cell.clamp_(-cell_clip, cell_clip)
        squashed = new_cell.mul(2.0).sigmoid_().mul_(2.0).sub_(1.0)
        output = project(o * squashed).to(cell.dtype)
        if proj_clip is not None:
            output.clamp_(-proj_clip, proj_clip)
        if record is not None:
            record.extend((active, cell[:rows].clone(), new_cell, squashed))
        cell[:rows], hidden[:rows] = new_cell, output
        outputs[start : start + rows] = output
        start += rows
    return outputs, cell, hidden


class _Scan(torch.autograd.Function):
    """`_scan` with its gradient: two small products per step, and one product for the gradient of each weight."""

    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> tuple[Tensor, Tensor, Tensor]:
        gates, hidden_weight, projection, cell, hidden, ctx.batch_sizes, ctx.clips = (
            arguments
        )
        record: list[Tensor] = []
        recur, project = packed_linear(hidden_weight), packed_linear(projection)
        results = _scan(
            gates, recur, project, cell, hidden, ctx.batch_sizes, ctx.clips, record
        )
        ctx.save_for_backward(hidden_weight, projection, hidden, results[0], *record)
        return results

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        hidden_weight, projection, first_hidden, outputs, *record = ctx.saved_tensors
        d_outputs, d_cell, d_hidden = gradients
        dtype = hidden_weight.dtype
        cell_clip, proj_clip = ctx.clips
        d_cell, d_hidden = d_cell.clone(), d_hidden.clone()
        to_exposed, to_hidden = (
            packed_linear(projection.t()),
            packed_linear(hidden_weight.t()),
        )
        d_gates = record[0].new_empty(
            outputs.shape[0], hidden_weight.shape[0], dtype=dtype
        )  # [N, 4H]
        d_projected = outputs.new_empty(outputs.shape, dtype=dtype)  # [N, P]
        exposed = outputs.new_empty(
            outputs.shape[0], projection.shape[1], dtype=dtype
        )  # [N, H]
        end = outputs.shape[0]
        for step in reversed(range(len(ctx.batch_sizes))):
            rows = ctx.batch_sizes[step]
            span = slice(end - rows, end)
            active, previous, cell, squashed = record[4 * step : 4 * step + 4]
            i, o, f, j = active.chunk(4, 1)
            d_output = d_outputs[span] + d_hidden[:rows]
            if proj_clip is not None:
                d_output.masked_fill_(outputs[span].abs() >= proj_clip, 0.0)
            d_projected[span] = d_output
            torch.mul(o, squashed, out=exposed[span]) if dtype == o.dtype else exposed[
                span
            ].copy_(o * squashed)
            d_exposed = to_exposed(d_projected[span]).to(o.dtype)
            d_new = d_cell[:rows].addcmul_(d_exposed * o, 1.0 - squashed * squashed)
            if cell_clip is not None:
                d_new.masked_fill_(cell.abs() >= cell_clip, 0.0)
            parts = d_gates[span].chunk(4, 1)
            parts[0].copy_(d_new * j * (i * (1.0 - i)))
            parts[1].copy_(d_exposed * squashed * (o * (1.0 - o)))
            parts[2].copy_(d_new * previous * (f * (1.0 - f)))
            parts[3].copy_(d_new * i * (1.0 - j * j))
            d_hidden[:rows] = to_hidden(d_gates[span]).to(o.dtype)
            d_new.mul_(f)
            end -= rows
        before = _previous_outputs(outputs, first_hidden, ctx.batch_sizes).to(dtype)
        return (
            d_gates,
            d_gates.t() @ before,
            d_projected.t() @ exposed,
            d_cell,
            d_hidden,
            None,
            None,
        )


def _previous_outputs(
    outputs: Tensor, first: Tensor, batch_sizes: Sequence[int]
) -> Tensor:
    """The recurrent input of each packed step: [N, P]."""
    steps = list(outputs.split(list(batch_sizes)))
    received = [first[: batch_sizes[0]]] + [
        step[:rows] for step, rows in zip(steps, batch_sizes[1:], strict=False)
    ]
    return torch.cat(received)
