"""
Token vectors -> hidden states: a projected LSTM with clipping, in one direction (paper,
section 3.1).
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from elmo_tasks.bilm.lstm_cell import plain_step, step, step_back
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.bilm.packed_linear import (
    Linear,
    PackableModule,
    needs_grad,
    packed_linear,
)

FORGET_BIAS = 1.0
"""
Added to the forget gate in the forward pass; files and parameters hold the bias without
it, as in TensorFlow.
"""

TOKENS_AT_ONCE = 128
"""
Packed tokens whose input products are held in memory at once without gradients: 8 MB at
the paper's size.
"""

State = tuple[Tensor, Tensor]
"""The cell state [B, H] and the clipped, projected output [B, P] of each row."""


class ProjectedLstm(PackableModule):
    """
    An LSTM layer over packed sequences whose cell state is clipped and whose output is
    projected and clipped:

    `i, o, f, j = split(W_x x_t + W_h h_(t-1) + b)`,
    `c_t = clip(sigmoid(f + 1) c_(t-1) + sigmoid(i) tanh(j))`,
    `h_t = clip(W_p (sigmoid(o) tanh(c_t)))`.

    `W_x x_t` is computed for all steps at once; only `W_h h_(t-1)` and the projection
    are sequential. In the options, `dim` is H, `projection_dim` P. Without
    `initialize`, the weights must be loaded.
    """

    packable = ("input_weight", "hidden_weight", "projection")
    forget_bias: Tensor

    def __init__(self, options: BiLMOptions, *, initialize: bool = True) -> None:
        super().__init__()
        dim = options.dim
        projection_dim = options.projection_dim
        self.dim = dim
        self.projection_dim = projection_dim
        self.cell_clip = options.cell_clip or None
        self.proj_clip = options.proj_clip or None
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
        """
        Glorot-uniform over the joint kernel of input and recurrence, as in TensorFlow;
        bias 0.
        """
        bound = (6.0 / (2 * self.projection_dim + 4 * self.dim)) ** 0.5
        nn.init.uniform_(self.input_weight, -bound, bound)
        nn.init.uniform_(self.hidden_weight, -bound, bound)
        nn.init.xavier_uniform_(self.projection)
        nn.init.zeros_(self.bias)

    def initial_state(self, rows: int) -> State:
        """Zero states for this number of rows."""
        cell = self.bias.new_zeros(rows, self.dim)
        return cell, self.bias.new_zeros(rows, self.projection_dim)

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

        - `inputs`, [N, P]: packed sequences, as in `torch.nn.utils.rnn.PackedSequence`:
          step 0 of all rows, then step 1, and so on.
        - `batch_sizes`: the number of rows at each step, non-increasing; its sum is N.
        - `state`: the initial cell state [B, H] and output [B, P].
        - `precision`: data type of the matrix products. Default: that of the inputs.
          Cells and outputs have the type of the state.

        Returns the outputs [N, P], and the state of each row after its last step.
        """
        dtype = precision or inputs.dtype
        grad = needs_grad(self, inputs, *state)
        to_gates = self.linear(
            "input_weight", self.bias + self.forget_bias, dtype=dtype, grad=grad
        )
        if grad:
            outputs, cell, hidden = _Scan.apply(
                to_gates(inputs),
                self.hidden_weight.to(dtype),
                self.projection.to(dtype),
                state[0],
                state[1],
                tuple(batch_sizes),
                self._clips,
            )
            return outputs, (cell, hidden)
        recur = self.linear("hidden_weight", dtype=dtype, grad=False)
        project = self.linear("projection", dtype=dtype, grad=False)
        outputs = inputs.new_empty(len(inputs), self.projection_dim)  # [N, P]
        start = 0
        for sizes in _parts(batch_sizes):
            part = slice(start, start + sum(sizes))
            outputs[part], cell, hidden = _scan(
                to_gates(inputs[part]), recur, project, *state, sizes, self._clips
            )
            state = (cell, hidden)
            start = part.stop
        return outputs, state

    def dense(self, inputs: Tensor, *, precision: torch.dtype | None = None) -> Tensor:
        """
        As `forward`, up to rounding, for sequences of one length from zero states:
        inputs [B, T, P] -> outputs [B, T, P]. It needs no packing, and `torch.export`
        makes a loop of it whose length is not known.
        """
        # Torch does not load this by itself, and it takes a second.
        from torch._higher_order_ops.scan import scan

        dtype = precision or inputs.dtype
        bias = self.bias + self.forget_bias
        to_gates = self.linear("input_weight", bias, dtype=dtype, grad=True)
        recur = self.linear("hidden_weight", dtype=dtype, grad=True)
        project = self.linear("projection", dtype=dtype, grad=True)
        cell_clip, proj_clip = self._clips

        def advance(state: State, gates: Tensor) -> tuple[State, Tensor]:
            cell, hidden = state
            active = (recur(hidden) + gates).to(cell.dtype)  # [B, 4H]
            _, new_cell, _, exposed = plain_step(active, cell, cell_clip)
            output = project(exposed).to(cell.dtype)  # [B, P]
            if proj_clip is not None:
                output = output.clamp(-proj_clip, proj_clip)
            return (new_cell, output), output.clone()

        steps = to_gates(inputs.transpose(0, 1))  # [T, B, 4H]
        _, outputs = scan(advance, self.initial_state(inputs.shape[0]), steps)
        return outputs.transpose(0, 1)

    @property
    def _clips(self) -> "Clips":
        return self.cell_clip, self.proj_clip


class LstmStack(nn.Module):
    """
    The LSTM layers of one direction. With skip connections, each layer after the first
    adds its input (after dropout) to its output; the recurrent state excludes that sum.
    """

    def __init__(self, options: BiLMOptions, *, initialize: bool = True) -> None:
        super().__init__()
        self.use_skip_connections = options.use_skip_connections
        layers = nn.ModuleList()
        for _ in range(options.n_layers):
            layers.append(ProjectedLstm(options, initialize=initialize))
        self.layers: Sequence[ProjectedLstm] = layers  # type: ignore[assignment]

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
        The outputs [N, P] of the L layers for packed inputs [N, P], and the last state
        of each layer; see `ProjectedLstm.forward`. `dropout` is the probability that an
        element of a layer's input is zeroed, in training and evaluation mode alike: the
        caller passes 0 in evaluation.
        """
        outputs: list[Tensor] = []
        finals: list[State] = []
        for depth, (layer, state) in enumerate(zip(self.layers, states, strict=True)):
            dropped = functional.dropout(inputs, dropout, training=dropout > 0.0)
            hidden, final = layer(dropped, batch_sizes, state, precision=precision)
            inputs = self._with_skip(depth, dropped, hidden)
            outputs.append(inputs)
            finals.append(final)
        return outputs, finals

    def dense(
        self, inputs: Tensor, *, precision: torch.dtype | None = None
    ) -> list[Tensor]:
        """
        The outputs [B, T, P] of the L layers for inputs [B, T, P]; see
        `ProjectedLstm.dense`.
        """
        outputs = []
        for depth, layer in enumerate(self.layers):
            hidden = layer.dense(inputs, precision=precision)
            inputs = self._with_skip(depth, inputs, hidden)
            outputs.append(inputs)
        return outputs

    def _with_skip(self, depth: int, inputs: Tensor, hidden: Tensor) -> Tensor:
        """The output of a layer, given its input and what its LSTM computes."""
        if depth and self.use_skip_connections:
            return hidden + inputs
        return hidden


def _parts(batch_sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """
    Split the steps into parts of at most `TOKENS_AT_ONCE` tokens, or one step: memory
    is independent of length.
    """
    part: list[int] = []
    for rows in batch_sizes:
        if part and sum(part) + rows > TOKENS_AT_ONCE:
            yield tuple(part)
            part = []
        part.append(rows)
    yield tuple(part)


Clips = tuple[float | None, float | None]
"""The largest absolute value of a cell, and of an output; `None` for no clipping."""


def _scan(
    gates: Tensor,
    recur: Linear,
    project: Linear,
    cell: Tensor,
    hidden: Tensor,
    batch_sizes: tuple[int, ...],
    clips: Clips,
    record: list[Tensor] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """
    The recurrence over packed input products `gates` [N, 4H], from the state of each
    row: cell [B, H] and output `hidden` [B, P]. Returns the outputs [N, P], and the
    last cell and output of each row.

    `recur` maps outputs [n, P] to gates [n, 4H], `project` maps [n, H] to outputs [n,
    P]. If `record` is given, it collects what the backward pass needs of each step: the
    activated gates, the cell before and after, and the tanh of the cell.
    """
    cell_clip, proj_clip = clips
    cell = cell.clone()
    hidden = hidden.clone()
    outputs = hidden.new_empty(gates.shape[0], hidden.shape[1])  # [N, P]
    start = 0
    for rows in batch_sizes:
        span = slice(start, start + rows)
        active = recur(hidden[:rows]).add_(gates[span]).to(cell.dtype)  # [rows, 4H]
        new_cell, squashed, exposed = step(active, cell[:rows], cell_clip)
        output = project(exposed).to(cell.dtype)
        if proj_clip is not None:
            output.clamp_(-proj_clip, proj_clip)
        if record is not None:
            record.extend((active, cell[:rows].clone(), new_cell, squashed))
        cell[:rows] = new_cell
        hidden[:rows] = output
        outputs[span] = output
        start += rows
    return outputs, cell, hidden


class _Scan(torch.autograd.Function):
    """
    `_scan` with its gradient, step by step from the last one (see `lstm_cell`): two
    small products a step, and one product for the gradient of each weight.
    """

    @staticmethod
    def forward(
        ctx: Any,
        gates: Tensor,
        hidden_weight: Tensor,
        projection: Tensor,
        cell: Tensor,
        hidden: Tensor,
        batch_sizes: tuple[int, ...],
        clips: Clips,
    ) -> tuple[Tensor, Tensor, Tensor]:
        ctx.batch_sizes = batch_sizes
        ctx.clips = clips
        record: list[Tensor] = []
        recur = packed_linear(hidden_weight)
        project = packed_linear(projection)
        results = _scan(gates, recur, project, cell, hidden, batch_sizes, clips, record)
        ctx.save_for_backward(hidden_weight, projection, hidden, results[0], *record)
        return results

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Any) -> Any:
        hidden_weight, projection, first_hidden, outputs, *record = ctx.saved_tensors
        d_outputs, d_cell, d_hidden = gradients  # [N, P], [B, H], [B, P]
        dtype = hidden_weight.dtype
        cell_clip, proj_clip = ctx.clips
        d_cell = d_cell.clone()
        d_hidden = d_hidden.clone()
        to_exposed = packed_linear(projection.t())
        to_hidden = packed_linear(hidden_weight.t())
        tokens = len(outputs)
        # The gradients of W_h and W_p are sums over all steps: one product each, of
        # these.
        d_gates = record[0].new_empty(
            tokens, len(hidden_weight), dtype=dtype
        )  # [N, 4H]
        d_projected = outputs.new_empty(outputs.shape, dtype=dtype)  # [N, P]
        exposed = outputs.new_empty(tokens, projection.shape[1], dtype=dtype)  # [N, H]
        end = tokens
        for number in reversed(range(len(ctx.batch_sizes))):
            rows = ctx.batch_sizes[number]
            span = slice(end - rows, end)
            active, cell, new_cell, squashed = record[4 * number : 4 * number + 4]
            d_output = d_outputs[span] + d_hidden[:rows]
            if proj_clip is not None:
                d_output.masked_fill_(outputs[span].abs() >= proj_clip, 0.0)
            d_projected[span] = d_output
            d_exposed = to_exposed(d_projected[span]).to(active.dtype)
            step_back(
                d_gates[span],
                exposed[span],
                d_exposed,
                d_cell[:rows],
                active,
                cell,
                new_cell,
                squashed,
                cell_clip,
            )
            d_hidden[:rows] = to_hidden(d_gates[span]).to(active.dtype)
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
    """
    The recurrent input of each packed step [N, P]: outputs [N, P] of the step before,
    and `first` [B, P] before the first one.
    """
    before = first
    received = []
    for rows, output in zip(batch_sizes, outputs.split(list(batch_sizes)), strict=True):
        received.append(before[:rows])
        before = output
    return torch.cat(received)
