"""
Token vectors -> hidden states: a projected LSTM with clipping (paper, section 3.1).

The two directions read as many rows at each step. On a GPU, where many small operators
take longer than their arithmetic, they are computed together: D = 2 in the shapes below
is their number, and the products of a step are one batched product. On a CPU, each is
computed by itself with packed weights, and D is 1.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.bilm.packed_linear import Linear, PackableModule, needs_grad
from elmo_tasks.bilm.recurrence import (
    Clips,
    ScanSteps,
    plain_step,
    products_with,
    scan_steps,
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
        joined = (state[0][None], state[1][None])
        outputs, (cell, hidden) = _run_layers(
            [self], inputs[None], batch_sizes, joined, precision
        )
        return outputs[0], (cell[0], hidden[0])

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
        cell_clip, proj_clip = self.clips

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
    def clips(self) -> Clips:
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
            inputs = self.with_skip(depth, dropped, hidden)
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
            inputs = self.with_skip(depth, inputs, hidden)
            outputs.append(inputs)
        return outputs

    def with_skip(self, depth: int, inputs: Tensor, hidden: Tensor) -> Tensor:
        """The output of a layer, given its input and what its LSTM computes."""
        if depth and self.use_skip_connections:
            return hidden + inputs
        return hidden


StackOutput = tuple[list[Tensor], list[State]]
"""What `LstmStack.forward` returns."""


def run_stacks(
    stacks: Sequence[LstmStack],
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    states: Sequence[Sequence[State]],
    *,
    dropout: float = 0.0,
    precision: torch.dtype | None = None,
) -> Iterator[StackOutput]:
    """
    What each stack returns for its inputs and states; see `LstmStack.forward`. On a GPU
    the layers of a depth are computed together, and their hooks are not called.
    """
    if inputs[0].device.type != "cpu":
        yield from _run_together(
            stacks, inputs, batch_sizes, states, dropout=dropout, precision=precision
        )
        return
    for stack, given, state in zip(stacks, inputs, states, strict=True):
        yield stack(given, batch_sizes, state, dropout=dropout, precision=precision)


def _run_together(
    stacks: Sequence[LstmStack],
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    states: Sequence[Sequence[State]],
    *,
    dropout: float,
    precision: torch.dtype | None,
) -> list[StackOutput]:
    """As `run_stacks`, for D stacks on a GPU."""
    results: list[StackOutput] = [([], []) for _ in stacks]
    joined = torch.stack(list(inputs))  # [D, N, P]
    for depth in range(len(stacks[0].layers)):
        layers = [stack.layers[depth] for stack in stacks]
        cell = torch.stack([state[depth][0] for state in states])  # [D, B, H]
        hidden = torch.stack([state[depth][1] for state in states])  # [D, B, P]
        dropped = functional.dropout(joined, dropout, training=dropout > 0.0)
        computed, (cell, hidden) = _run_layers(
            layers, dropped, batch_sizes, (cell, hidden), precision
        )
        joined = stacks[0].with_skip(depth, dropped, computed)
        for number, (outputs, finals) in enumerate(results):
            outputs.append(joined[number])
            finals.append((cell[number], hidden[number]))
    return results


def _run_layers(
    layers: Sequence[ProjectedLstm],
    inputs: Tensor,
    batch_sizes: Sequence[int],
    state: State,
    precision: torch.dtype | None,
) -> tuple[Tensor, State]:
    """
    `ProjectedLstm.forward` of D layers: packed inputs [D, N, P] and a state ([D, B, H],
    [D, B, P]) -> outputs [D, N, P] and the state after the last step.
    """
    dtype = precision or inputs.dtype
    grad = needs_grad(nn.ModuleList(layers), inputs, *state)
    clips = layers[0].clips
    to_gates = _input_products(layers, dtype, grad)
    if grad:
        weights = [layer.hidden_weight for layer in layers]
        projections = [layer.projection for layer in layers]
        outputs, cell, hidden = ScanSteps.apply(
            to_gates(inputs),
            _stacked(weights).to(dtype),
            _stacked(projections).to(dtype),
            *state,
            tuple(batch_sizes),
            clips,
        )
        return outputs, (cell, hidden)
    recur = _state_products(layers, "hidden_weight", dtype)
    project = _state_products(layers, "projection", dtype)
    uniform = dtype == torch.int8
    parts = []
    start = 0
    for sizes in _parts(batch_sizes):
        part = inputs[:, start : start + sum(sizes)]
        outputs, *last = scan_steps(
            to_gates(part), recur, project, *state, sizes, clips, uniform=uniform
        )
        state = (last[0], last[1])
        parts.append(outputs)
        start += sum(sizes)
    return torch.cat(parts, 1), state


def _input_products(
    layers: Sequence[ProjectedLstm], dtype: torch.dtype, grad: bool
) -> Linear:
    """Inputs [D, N, P] -> `W_x x + b` of the layers [D, N, 4H], in `dtype`."""
    biases = [layer.bias + layer.forget_bias for layer in layers]
    if len(layers) == 1:
        return layers[0].linear("input_weight", biases[0], dtype=dtype, grad=grad)
    weights = torch.stack([layer.input_weight for layer in layers]).to(dtype)
    transposed = weights.transpose(1, 2)  # [D, P, 4H]
    bias = torch.stack(biases).to(dtype)[:, None]  # [D, 1, 4H]

    def products(inputs: Tensor) -> Tensor:
        return torch.baddbmm(bias, inputs.to(dtype), transposed)

    return products


def _state_products(
    layers: Sequence[ProjectedLstm], name: str, dtype: torch.dtype
) -> Linear:
    """
    Inputs [D, n, K] -> their products with the weights `name` of the layers [D, n, M],
    in `dtype`, without a gradient.
    """
    if len(layers) == 1:
        return layers[0].linear(name, dtype=dtype, grad=False)
    weights = [getattr(layer, name).detach() for layer in layers]
    return products_with(torch.stack(weights).to(dtype))


def _stacked(tensors: Sequence[Tensor]) -> Tensor:
    """As `torch.stack`; a single tensor is not copied."""
    if len(tensors) == 1:
        return tensors[0][None]
    return torch.stack(tuple(tensors))


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
