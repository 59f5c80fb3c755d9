"""The joint objective of both directions, and its perplexity (paper, section 3.1).

Token encoder and softmax are shared by the two directions, the LSTMs are not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.bilm.bilm import DIRECTIONS, BiLM
from elmo_tasks.bilm.lstm import LstmStack, State
from elmo_tasks.bilm.packed_linear import PRECISIONS
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.softmax import OutputSoftmax
from elmo_tasks.pretraining.stream import LmBatch
from elmo_tasks.ranges import require_dropouts


@dataclass
class LmStates:
    """
    Where the rows of the next batch go on: of each direction's layers the cell [B, H] and the output [B, P].

    # Parameters

    forward, backward : `list[State]`
        A pair per layer, without gradient history.
    """

    forward: list[State]
    backward: list[State]

    def to(self, device: torch.device | str | int) -> "LmStates":
        """The same states on `device`."""
        return LmStates(*([(c.to(device), h.to(device)) for c, h in getattr(self, name)] for name in DIRECTIONS))

    def to_tensors(self, prefix: str = "") -> dict[str, Tensor]:
        """A flat dictionary for checkpoints, `{prefix}forward.0.cell` and so on."""
        tensors = {}
        for name in DIRECTIONS:
            for depth, (cell, hidden) in enumerate(getattr(self, name)):
                tensors[f"{prefix}{name}.{depth}.cell"] = cell
                tensors[f"{prefix}{name}.{depth}.hidden"] = hidden
        return tensors

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], prefix: str = "") -> "LmStates":
        """
        The states that `to_tensors` put into a dictionary; other keys are left alone.

        # Raises

        `InputError` where the dictionary holds no state of a direction, or half of one.
        """
        return cls(*(_layers(tensors, f"{prefix}{name}.") for name in DIRECTIONS))


class LmOutput(NamedTuple):
    """
    # Parameters

    forward_nll, backward_nll : `Tensor`, scalar
        Sums over the direction's unmasked positions, nats: of the training loss (sampled softmax where there are
        negatives) in training mode, of the exact softmax in evaluation mode.
    forward_count, backward_count : `Tensor`, scalar, int64
        Positions summed.
    states : `LmStates`
        For the next batch.
    """

    forward_nll: Tensor
    backward_nll: Tensor
    forward_count: Tensor
    backward_count: Tensor
    states: LmStates

    @property
    def loss(self) -> Tensor:
        """The mean of the two directions' mean negative log-likelihoods, as bilm-tf minimises it."""
        forward = self.forward_nll / self.forward_count.clamp_min(1)
        return 0.5 * (forward + self.backward_nll / self.backward_count.clamp_min(1))


class BiLanguageModel(nn.Module):
    """
    A biLM under its softmax, as it is trained and as its perplexity is measured.

    # Parameters

    bilm : `BiLM`
        Gives token encoder and LSTM stacks; its own carrying of states is not used.
    softmax : `OutputSoftmax`
    dropout : `float`
        At the input of each LSTM layer and on the top output, in training mode only.
    precision : `str`
        Type of the matrix products in training mode, `float32` or `bfloat16`; parameters, cells and sums stay in
        float32, and so does all of the evaluation mode.

    # Raises

    `InputError` where the precision is unknown, the dropout not in [0, 1), or the widths differ.
    """

    def __init__(self, bilm: BiLM, softmax: OutputSoftmax, *, dropout: float = 0.1, precision: str = "float32") -> None:
        super().__init__()
        if precision not in PRECISIONS:
            raise InputError(f"precision must be one of {', '.join(PRECISIONS)}, found {precision!r}")
        require_dropouts(dropout=dropout)
        if softmax.dim != bilm.options.projection_dim:
            wanted = bilm.options.projection_dim
            raise InputError(f"the softmax must be as wide as projection_dim {wanted}, found {softmax.dim}")
        self.bilm, self.softmax = bilm, softmax
        self.dropout, self.precision = dropout, PRECISIONS[precision]

    def forward(self, batch: LmBatch, states: LmStates | None = None) -> LmOutput:
        """
        # Parameters

        batch : `LmBatch`
        states : `LmStates`, optional
            Those of the batch before; zeros by default. They are never reset at the end of a sentence.
        """
        states = states or self.initial_states(batch.forward_inputs.shape[1])
        tokens = self._encode(batch.characters)  # [U, P]
        ahead, ahead_states = self._run(self.bilm.forward_stack, tokens, batch.forward_inputs, states.forward)
        back, back_states = self._run(self.bilm.backward_stack, tokens, batch.backward_inputs, states.backward)
        return LmOutput(
            self._nll(ahead, batch.forward_targets, batch.forward_mask),
            self._nll(back, batch.backward_targets, batch.backward_mask),
            batch.forward_mask.sum(),
            batch.backward_mask.sum(),
            LmStates(ahead_states, back_states),
        )

    def initial_states(self, rows: int) -> LmStates:
        """Zeros for a batch of so many rows."""
        return LmStates(self.bilm.forward_stack.initial_states(rows), self.bilm.backward_stack.initial_states(rows))

    def _encode(self, characters: Tensor) -> Tensor:
        """Context-free vectors [U, P] of the batch's distinct tokens."""
        return self.bilm.token_encoder(characters, precision=self._precision_now)

    def _run(
        self, stack: LstmStack, tokens: Tensor, inputs: Tensor, states: Sequence[State]
    ) -> tuple[Tensor, list[State]]:
        """One direction over `inputs` [T, B]: its top output [T * B, P] and where its rows end."""
        steps, rows = inputs.shape
        _check_rows(states, rows)
        packed = functional.embedding(inputs.flatten(), tokens)  # [T * B, P]
        outputs, finals = stack(
            packed, [rows] * steps, states, dropout=self._dropout_now, precision=self._precision_now
        )
        top = functional.dropout(outputs[-1], self.dropout, training=self.training)  # [T * B, P]
        return top, [(cell.detach(), hidden.detach()) for cell, hidden in finals]

    def _nll(self, hidden: Tensor, targets: Tensor, mask: Tensor) -> Tensor:
        words = targets.flatten()  # [T * B]
        if self.training:
            losses = self.softmax.loss(hidden, words, precision=self._precision_now)
        else:
            losses = self.softmax.exact_nll(hidden, words)
        return losses.where(mask.flatten(), 0.0).sum()

    @property
    def _dropout_now(self) -> float:
        return self.dropout if self.training else 0.0

    @property
    def _precision_now(self) -> torch.dtype | None:
        lower = self.training and self.precision != torch.float32
        return self.precision if lower else None


def _check_rows(states: Sequence[State], rows: int) -> None:
    for cell, _ in states:
        if len(cell) != rows:
            raise InputError(
                f"the carried states have {len(cell)} rows, the batch has {rows}",
                hint="continue with the same batch size, or start from zero states",
            )


def _layers(tensors: dict[str, Tensor], prefix: str) -> list[State]:
    found = {key.removeprefix(prefix) for key in tensors if key.startswith(prefix)}
    count = len(found) // 2
    wanted = {f"{depth}.{part}" for depth in range(count) for part in ("cell", "hidden")}
    if not count or found != wanted:
        listing = ", ".join(sorted(found)) or "nothing"
        raise InputError(f"a cell and a hidden state per layer were wanted under {prefix!r}, found {listing}")
    return [(tensors[f"{prefix}{depth}.cell"], tensors[f"{prefix}{depth}.hidden"]) for depth in range(count)]
