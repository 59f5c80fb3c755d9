"""
The joint objective of both directions (paper, section 3.1): token encoder and softmax
are shared, LSTMs are not.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.bilm.bilm import DIRECTIONS, BiLM, States
from elmo_tasks.bilm.characters import fit_slots
from elmo_tasks.bilm.lstm import run_stacks
from elmo_tasks.bilm.precision import PRECISIONS, announced_precision, product_type
from elmo_tasks.option_values import Precision
from elmo_tasks.pretraining.softmax import OutputSoftmax
from elmo_tasks.pretraining.text.stream import LmBatch
from elmo_tasks.settings import Probability, checked


class LmOutput(NamedTuple):
    """
    Each direction's sum of negative log-likelihoods over its unmasked positions, in
    nats (the sampled softmax in training mode if there are negatives, else the exact
    one), their number, and the states for the next batch.
    """

    nll: Tensor  # [2], forward and backward
    counts: Tensor  # [2]
    states: States

    @property
    def loss(self) -> Tensor:
        """
        The mean of the two directions' mean negative log-likelihoods, a scalar, which
        bilm-tf minimizes: `(nll_forward / n_forward + nll_backward / n_backward) / 2`.
        """
        return 0.5 * (self.nll / self.counts.clamp_min(1)).sum()


class TokenLosses(NamedTuple):
    """
    The negative log-likelihood of each target by the exact softmax, in nats, zero where
    it is masked, and the states for the next batch.
    """

    nll: Tensor  # [2, T, B], forward and backward
    states: States


class BiLanguageModel(nn.Module):
    """
    A biLM with its softmax, for training and for measuring perplexity.

    # Parameters

    - `bilm`: provides the token encoder and the LSTM stacks.
    - `dropout`: at the input of each LSTM layer and on the top output, in training mode
      only.
    - `precision`: type of the matrix products in training mode, `float32`, `bfloat16`
      or `emulated_bfloat16`, as that of `BiLM`; parameters, cells and sums are float32.
      `torch.autocast` overrides `float32`. In evaluation mode, the biLM's own precision is used.
    """

    @checked
    def __init__(
        self,
        bilm: BiLM,
        softmax: OutputSoftmax,
        *,
        dropout: Probability = 0.1,
        precision: Precision = "float32",
    ) -> None:
        super().__init__()
        self.bilm = bilm
        self.softmax = softmax
        self.dropout = dropout
        self.precision = precision

    def forward(self, batch: LmBatch, states: States | None = None) -> LmOutput:
        """
        Continues from the states of the previous batch (default: zeros), also within a
        sentence. The states of a direction are a pair for each layer: the cell, float32
        `[B, cells]`, and the hidden state `[B, P]`.
        """
        dtype = self._product_dtype
        with torch.autocast(batch.characters.device.type, enabled=False):
            tops, finals = self._tops(batch, states or {}, dtype)
            # After both directions: dropout and the sampled softmax share a generator.
            nll = []
            for top, targets, mask in zip(tops, batch.targets, batch.mask, strict=True):
                nll.append(self._nll(top, targets, mask, dtype))
            return LmOutput(torch.stack(nll), batch.mask.sum((1, 2)), finals)

    @torch.no_grad()
    def token_losses(self, batch: LmBatch, states: States | None = None) -> TokenLosses:
        """
        As `forward` in evaluation mode, for each target. The softmax is computed in
        parts, so that memory does not grow with the vocabulary times the batch.
        """
        with torch.autocast(batch.characters.device.type, enabled=False):
            tops, finals = self._tops(batch, states or {}, self._product_dtype)
            hidden = torch.cat(tops)  # [2 * T * B, P]
            # In one call, since each call packs the weights of the softmax.
            losses = self.softmax.exact_nll(
                hidden[batch.mask.flatten()], batch.targets[batch.mask]
            )
            nll = losses.new_zeros(batch.mask.shape)  # [2, T, B]
            nll[batch.mask] = losses
            return TokenLosses(nll, finals)

    def _tops(
        self, batch: LmBatch, states: States, dtype: torch.dtype | None
    ) -> tuple[list[Tensor], States]:
        """
        The top output of each direction [T * B, P] and the final states, with matrix
        products in `dtype`, by default that of the parameters.
        """
        tokens = self._encode(batch.characters, dtype)  # [U, P]
        stacks = [self.bilm.forward_stack, self.bilm.backward_stack]
        _, steps, rows = batch.inputs.shape
        starts = []
        for direction, stack in zip(DIRECTIONS, stacks, strict=True):
            starts.append(states.get(direction) or stack.initial_states(rows))
        inputs = []
        for words in batch.inputs:
            inputs.append(functional.embedding(words.flatten(), tokens))  # [T * B, P]
        dropout = self.dropout if self.training else 0.0
        computed = run_stacks(
            stacks, inputs, [rows] * steps, starts, dropout=dropout, precision=dtype
        )
        tops = []
        finals: States = {}
        for direction, (outputs, last) in zip(DIRECTIONS, computed, strict=True):
            tops.append(functional.dropout(outputs[-1], dropout))  # [T * B, P]
            finals[direction] = [
                (cell.detach(), hidden.detach()) for cell, hidden in last
            ]
        return tops, finals

    def _encode(self, characters: Tensor, dtype: torch.dtype | None) -> Tensor:
        """Context-free vectors [U, P] of the batch's distinct tokens."""
        ids = fit_slots(characters, self.bilm.options.max_characters_per_token)
        return self.bilm.token_encoder(ids, precision=dtype)

    def _nll(
        self, hidden: Tensor, targets: Tensor, mask: Tensor, dtype: torch.dtype | None
    ) -> Tensor:
        """
        The sum over the unmasked positions, a scalar, for `hidden` [T * B, P] and
        `targets` and `mask` [T, B].
        """
        words = targets.flatten()  # [T * B]
        if self.training:
            losses = self.softmax.loss(hidden, words, precision=dtype)
        else:
            losses = self.softmax.exact_nll(hidden, words)
        return losses.view_as(targets).where(mask, 0.0).sum()

    @property
    def _product_dtype(self) -> torch.dtype | None:
        """The type of matrix products, if they differ from the float32 parameters."""
        weight = self.softmax.weight
        if not self.training:
            return self.bilm.product_dtype
        if self.precision == "float32":
            dtype = product_type(weight)
        else:
            dtype = PRECISIONS[announced_precision(weight.device, self.precision)]
        if dtype == torch.float32:
            return None
        return dtype
