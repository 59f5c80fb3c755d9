"""Top LSTM output -> negative log-likelihood of the next word: full, sampled and exact softmax (paper, section 3.4).

The sampled softmax is that of Jozefowicz et al. (2016) as in TensorFlow: distinct negatives from the log-uniform
distribution over frequency ranks, shared by all positions; logits are corrected by the log of the expected counts.
"""

import math
from typing import Annotated, Any, Optional

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from elmo_tasks.bilm.packed_linear import packed_linear
from elmo_tasks.settings import LARGEST, Range, Size, Width, checked
from elmo_tasks.training.distributed import from_first_process, process_rank

NO_HIT = -1  # instead of a column: the row's target is not among the negatives
_LOG2_E = math.log2(math.e)
_BLOCK = (
    2**21
)  # logits at a time, 8 MiB: they fit into a CPU's cache and give efficient matrix products
_GPU_BLOCK = 2**28  # the same on a GPU, for the exact softmax: 1 GiB
_LEAST_ROWS = 64  # positions at a time for the exact softmax; with fewer, reading the weights takes the time


Negatives = Optional[Annotated[int, Range(at_least=2, at_most=LARGEST)]]
"""The number of negatives of the sampled softmax; none for the full one."""


class LogUniformSampler(nn.Module):
    """
    Distinct word ids from the distribution `P(k) = ln((k + 2) / (k + 1)) / ln(V + 1)` by rejection sampling.

    Ids must be ranks by descending frequency. Random numbers come from torch's global CPU generator; in distributed
    training all processes use those of the first one. A draw has from 1 to V `negatives`.
    """

    _log_misses: Tensor

    def __init__(self, vocabulary_size: int, negatives: int) -> None:
        super().__init__()
        self.vocabulary_size, self.negatives = vocabulary_size, negatives
        ranks = torch.arange(vocabulary_size, dtype=torch.float64)
        self.probabilities = torch.log1p(1.0 / (ranks + 1.0)) / math.log(
            vocabulary_size + 1.0
        )  # [V]
        self.register_buffer(
            "_log_misses", torch.log1p(-self.probabilities), persistent=False
        )  # [V]
        self._block = self._expected_tries()

    def draw(self) -> tuple[Tensor, int]:
        """Distinct ids [S], ascending, and the tries that they took; the same in all processes."""
        own = self._draw() if process_rank() == 0 else (torch.empty(0), 0)
        return from_first_process(own)

    def _draw(self) -> tuple[Tensor, int]:
        drawn = np.empty(0, dtype=np.int64)
        while True:
            drawn = np.concatenate([drawn, self._draws(max(self._block, len(drawn)))])
            distinct, first = np.unique(drawn, return_index=True)
            if len(distinct) >= self.negatives:
                last = int(np.partition(first, self.negatives - 1)[self.negatives - 1])
                return torch.from_numpy(distinct[first <= last]), last + 1

    def log_expected_counts(self, ids: Tensor, tries: int) -> Tensor:
        """`ln q(k)` with `q(k) = 1 - (1 - P(k))^tries`, the probability that k is among the draw; float32, [N]."""
        return (-torch.expm1(tries * self._log_misses[ids])).log().float()

    def _draws(self, count: int) -> np.ndarray:
        uniform = torch.rand(count, dtype=torch.float64).numpy()
        ids = (
            np.exp(uniform * math.log(self.vocabulary_size + 1.0)).astype(np.int64) - 1
        )
        return np.minimum(ids, self.vocabulary_size - 1)

    def _expected_tries(self) -> int:
        """Tries after which slightly more than `negatives` distinct ids are expected."""
        distinct = min(1.02 * self.negatives + 16, self.vocabulary_size - 0.5)
        tries = self.negatives
        while -torch.expm1(tries * self._log_misses).sum() < distinct and tries < 2**22:
            tries += tries // 8 + 1
        return tries


class OutputSoftmax(nn.Module):
    """
    The output layer over the V words of the vocabulary, shared by both directions, for LSTM outputs of width P (`dim`).
    In training the softmax is sampled with so many `negatives`, at least two; by default, and for V or more, it is the
    full one.
    """

    @checked
    def __init__(
        self, vocabulary_size: Size, dim: Width, *, negatives: Negatives = None
    ) -> None:
        super().__init__()
        self.vocabulary_size, self.dim = vocabulary_size, dim
        self.weight = nn.Parameter(torch.empty(vocabulary_size, dim))
        self.bias = nn.Parameter(torch.empty(vocabulary_size))
        self.sampler: LogUniformSampler | None = None
        if negatives is not None and negatives < vocabulary_size:
            self.sampler = LogUniformSampler(vocabulary_size, negatives)
        nn.init.normal_(self.weight, std=self.dim**-0.5)
        nn.init.zeros_(self.bias)

    def loss(
        self, hidden: Tensor, targets: Tensor, *, precision: torch.dtype | None = None
    ) -> Tensor:
        """
        The training loss [N] in nats for `hidden` [N, P] and word ids [N]: the sampled softmax if there are negatives,
        else the full one. Products are in `precision` (default: the type of `hidden`), sums at least in float32.
        """
        precision = precision or hidden.dtype
        if self.sampler is not None:
            return self._sampled_loss(hidden, targets, self.sampler, precision)
        weight, bias = (
            self.weight.index_select(0, targets),
            self.bias.index_select(0, targets),
        )
        true = (hidden * weight).sum(1) + bias  # [N]
        return _LogSumExp.apply(hidden, self.weight, self.bias, None, precision) - true

    @torch.no_grad()
    def exact_nll(
        self, hidden: Tensor, targets: Tensor, *, chunk: int = 2048
    ) -> Tensor:
        """
        Negative log-likelihoods [N] of the full softmax for `hidden` [N, P] and word ids [N], in nats and float32,
        without gradients; at most `chunk` positions at a time.
        """
        logits_of = packed_linear(self.weight.float())
        bias = self.bias.float() * _LOG2_E
        device_block = _BLOCK if hidden.device.type == "cpu" else _GPU_BLOCK
        rows = min(chunk, max(_LEAST_ROWS, device_block // self.vocabulary_size))
        losses = []
        for part, words in zip(
            hidden.float().split(rows), targets.split(rows), strict=True
        ):
            logits = logits_of(part * _LOG2_E).add_(bias)  # [rows, V]
            own = logits.gather(1, words[:, None])[:, 0]  # [rows]
            top, total = _to_powers(logits)
            losses.append((top + total.log2() - own) / _LOG2_E)
        return torch.cat(losses)

    def _sampled_loss(
        self,
        hidden: Tensor,
        targets: Tensor,
        sampler: LogUniformSampler,
        precision: torch.dtype,
    ) -> Tensor:
        ids, tries = sampler.draw()
        negatives = ids.to(targets.device)  # [S]
        words = torch.cat([negatives, targets])  # [S + N]
        sizes = [len(negatives), len(targets)]
        correction = sampler.log_expected_counts(words, tries)
        weight, own_weight = self.weight.index_select(0, words).split(sizes)
        bias, own_bias = (self.bias.index_select(0, words) - correction).split(sizes)
        true = (hidden * own_weight).sum(1) + own_bias  # [N]
        hits = _hits(targets, negatives)
        others = _LogSumExp.apply(hidden, weight, bias, hits, precision)  # [N]
        return torch.logaddexp(true, others) - true


class _LogSumExp(torch.autograd.Function):
    """
    `ln sum_k exp(w_k h + b_k)` [N] for `hidden` [N, P], `weight` [S, P] and `bias` [S], with products in `precision`
    and sums in float32 (float64 for float64 `hidden`). `hits` [N] is a column to leave out of each row, or `NO_HIT`.

    Saves only the powers, in the products' type: the gradient is two products with them, with each row's factor applied
    to the smaller operand. Powers of 2 are many times faster on CPUs than powers of e.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor,
        hits: Tensor | None,
        precision: torch.dtype,
    ) -> Tensor:
        scaled, low_weight = (hidden * _LOG2_E).to(precision), weight.to(precision)
        bias = bias * _LOG2_E
        powers = scaled.new_empty(len(hidden), len(weight))  # [N, S]
        top, total = bias.new_empty(len(hidden)), bias.new_empty(len(hidden))
        step = max(1, _BLOCK // len(weight))
        for start in range(0, len(hidden), step):
            rows = slice(start, start + step)
            logits = (
                functional.linear(scaled[rows], low_weight).to(bias.dtype).add_(bias)
            )  # [rows, S]
            if hits is not None:
                _mask_hits(logits, hits[rows])
            top[rows], total[rows] = _to_powers(logits)
            powers[rows] = logits
        ctx.save_for_backward(scaled, low_weight, powers, total)
        ctx.dtypes = hidden.dtype, weight.dtype
        return (top + total.log2()) / _LOG2_E

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Any) -> Any:
        scaled, weight, powers, total = ctx.saved_tensors
        hidden_type, weight_type = ctx.dtypes
        factor = (gradients[0] / total)[:, None]  # [N, 1]
        d_hidden = (powers @ weight).to(hidden_type) * factor
        small = torch.cat([scaled * (factor / _LOG2_E), factor], 1).to(
            powers.dtype
        )  # [N, P + 1]
        d_both = powers.t() @ small  # [S, P + 1]
        return (
            d_hidden,
            d_both[:, :-1].to(weight_type),
            d_both[:, -1].to(total.dtype),
            None,
            None,
        )


def _to_powers(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Replace base-2 logits [N, S] by powers relative to each row's maximum; return the maxima and sums [N]."""
    top = logits.amax(1)  # [N]
    return top, logits.sub_(top[:, None]).exp2_().sum(1)


def _hits(targets: Tensor, negatives: Tensor) -> Tensor:
    """Each target's index in the ascending negatives, or `NO_HIT`: [N]."""
    index = torch.searchsorted(negatives, targets).clamp_max_(len(negatives) - 1)
    return torch.where(negatives[index] == targets, index, NO_HIT)


def _mask_hits(logits: Tensor, hits: Tensor) -> None:
    """Set each row's hit to minus infinity, in place."""
    rows = torch.arange(len(hits), device=hits.device)
    old = logits[
        rows, hits
    ]  # [rows]; a row without a hit reads its last column and writes it back
    logits[rows, hits] = old.masked_fill(hits >= 0, -math.inf)
