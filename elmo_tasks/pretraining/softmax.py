"""
Top LSTM output -> negative log-likelihood of the next word: full, sampled and exact
softmax (paper, section 3.4).

With the logit `z_k = w_k h + b_k` of word k, the full softmax has for the target y

    loss = ln sum_k exp(z_k) - z_y

where k runs over the V words. The sampled softmax is that of Jozefowicz et al. (2016)
as in TensorFlow: k runs over y and the other words of a sample S, which all positions
share. S are distinct words from the log-uniform distribution over frequency ranks,
`P(k) = ln((k + 2) / (k + 1)) / ln(V + 1)`, drawn in t tries. Each logit, also that of
the target, is corrected by the log of the word's expected count in S:

    z'_k = z_k - ln q(k),    q(k) = 1 - (1 - P(k))^t
    loss = ln (exp(z'_y) + sum_(k in S, k != y) exp(z'_k)) - z'_y
"""

import math
from typing import Annotated, Any, Optional

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.bilm.derivatives import first_derivative_only
from elmo_tasks.bilm.packed_linear import packed_linear
from elmo_tasks.settings import LARGEST, Integer, Size, Width, checked
from elmo_tasks.training.distributed import from_first_process, process_rank

NO_HIT = -1
"""In place of a column: the row's target is not among the negatives."""

_LOG2_E = math.log2(math.e)

_BLOCK = 2**21
"""
Logits at a time, 8 MiB: they fit into a CPU's cache and give efficient matrix products.
"""

_GPU_BLOCK = 2**28
"""The same on a GPU, for the exact softmax: 1 GiB."""

_LEAST_ROWS = 64
"""
Positions at a time for the exact softmax, even if their logits are more than a block:
with fewer, most of the time is for reading the weights.
"""

_MOST_TRIES = 2**22
"""About the largest block of tries; more are drawn in several blocks."""

Negatives = Optional[Annotated[Integer, Field(ge=2, le=LARGEST)]]
"""The number of negatives of the sampled softmax; none for the full one."""


class LogUniformSampler(nn.Module):
    """
    Distinct word ids from the distribution `P(k) = ln((k + 2) / (k + 1)) / ln(V + 1)`
    by rejection sampling.

    Ids must be ranks by descending frequency. Random numbers come from torch's global
    CPU generator; in distributed training all processes use those of the first one. A
    draw has from 1 to V `negatives`.
    """

    _log_misses: Tensor

    def __init__(self, vocabulary_size: int, negatives: int) -> None:
        super().__init__()
        self.vocabulary_size = vocabulary_size
        self.negatives = negatives
        ranks = torch.arange(vocabulary_size, dtype=torch.float64)
        shares = torch.log1p(1.0 / (ranks + 1.0))  # ln((k + 2) / (k + 1)), [V]
        self.probabilities = shares / math.log(vocabulary_size + 1.0)  # P(k), [V]
        log_misses = torch.log1p(-self.probabilities)  # ln(1 - P(k)), [V]
        self.register_buffer("_log_misses", log_misses, persistent=False)
        self._block = self._expected_tries()

    def draw(self) -> tuple[Tensor, int]:
        """
        Distinct ids [S], ascending, and the tries that they took; the same in all
        processes.
        """
        drawn = (torch.empty(0), 0)
        if process_rank() == 0:
            drawn = self._draw()
        return from_first_process(drawn)

    def _draw(self) -> tuple[Tensor, int]:
        """
        The distinct ids of as many tries as it takes to have enough. Tries are drawn in
        blocks; those after the last new id are left out, as if drawn one at a time.
        """
        tries = np.empty(0, dtype=np.int64)  # the id of each try
        while True:
            tries = np.concatenate([tries, self._draws(max(self._block, len(tries)))])
            distinct, first = np.unique(tries, return_index=True)  # first try of each
            if len(distinct) >= self.negatives:
                rank = self.negatives - 1
                last = int(np.partition(first, rank)[rank])
                return torch.from_numpy(distinct[first <= last]), last + 1

    def log_expected_counts(self, ids: Tensor, tries: int) -> Tensor:
        """
        `ln q(k)` of ids [N] with `q(k) = 1 - (1 - P(k))^tries`, the probability that k
        is among the draw: float32, [N].
        """
        return (-torch.expm1(tries * self._log_misses[ids])).log().float()

    def _draws(self, count: int) -> np.ndarray:
        """
        Ids [N] of P, with repetitions, by its inverse distribution function: with u
        uniform in [0, 1), `k = floor((V + 1)^u) - 1`.
        """
        uniform = torch.rand(count, dtype=torch.float64).numpy()
        powers = np.exp(uniform * math.log(self.vocabulary_size + 1.0))
        return np.minimum(powers.astype(np.int64) - 1, self.vocabulary_size - 1)

    def _expected_tries(self) -> int:
        """
        Tries after which slightly more than `negatives` distinct ids are expected.
        """
        distinct = min(1.02 * self.negatives + 16, self.vocabulary_size - 0.5)
        tries = self.negatives
        while tries < _MOST_TRIES:
            inclusion = -torch.expm1(tries * self._log_misses)  # q(k), [V]
            if inclusion.sum() >= distinct:
                break
            tries += tries // 8 + 1
        return tries


class OutputSoftmax(nn.Module):
    """
    The output layer over the V words of the vocabulary, shared by both directions, for
    LSTM outputs of width P (`dim`). In training the softmax is sampled with so many
    `negatives`, at least two; by default, and for V or more, it is the full one.
    """

    @checked
    def __init__(
        self, vocabulary_size: Size, dim: Width, *, negatives: Negatives = None
    ) -> None:
        super().__init__()
        self.vocabulary_size = vocabulary_size
        self.dim = dim
        self.weight = nn.Parameter(torch.empty(vocabulary_size, dim))
        self.bias = nn.Parameter(torch.empty(vocabulary_size))
        self.sampler: LogUniformSampler | None = None  # none: the full softmax
        if negatives is not None and negatives < vocabulary_size:
            self.sampler = LogUniformSampler(vocabulary_size, negatives)
        nn.init.normal_(self.weight, std=self.dim**-0.5)
        nn.init.zeros_(self.bias)

    def loss(
        self, hidden: Tensor, targets: Tensor, *, precision: torch.dtype | None = None
    ) -> Tensor:
        """
        The training loss [N] in nats for `hidden` [N, P] and word ids [N]: the sampled
        softmax if there are negatives, else the full one. Products are in `precision`
        (default: the type of `hidden`), sums at least in float32.
        """
        precision = precision or hidden.dtype
        if self.sampler is not None:
            return self._sampled_loss(hidden, targets, self.sampler, precision)
        own_weight = self.weight.index_select(0, targets)  # [N, P]
        true = (hidden * own_weight).sum(1) + self.bias.index_select(0, targets)  # [N]
        return _LogSumExp.apply(hidden, self.weight, self.bias, None, precision) - true

    @torch.no_grad()
    def exact_nll(
        self, hidden: Tensor, targets: Tensor, *, chunk: int = 2048
    ) -> Tensor:
        """
        Negative log-likelihoods [N] of the full softmax for `hidden` [N, P] and word
        ids [N], in nats and float32, without gradients: `cross_entropy(linear(hidden,
        weight, bias), targets, reduction="none")`, with at most `chunk` positions at a
        time, so that memory is that of `chunk` V logits.

        Logits are of base 2, `z / ln 2`, since powers of 2 are many times faster on
        CPUs than powers of e.
        """
        logits_of = packed_linear(self.weight.float())
        bias = self.bias.float() * _LOG2_E  # [V]
        block = _BLOCK if hidden.device.type == "cpu" else _GPU_BLOCK
        rows = min(chunk, max(_LEAST_ROWS, block // self.vocabulary_size))
        losses = []
        parts = zip(hidden.float().split(rows), targets.split(rows), strict=True)
        for part, words in parts:  # [rows, P] and [rows]
            logits = logits_of(part * _LOG2_E).add_(bias)  # [rows, V]
            true = logits.gather(1, words[:, None])[:, 0]  # [rows]
            top, total = _to_powers(logits)
            losses.append((top + total.log2() - true) / _LOG2_E)
        return torch.cat(losses)

    def _sampled_loss(
        self,
        hidden: Tensor,
        targets: Tensor,
        sampler: LogUniformSampler,
        precision: torch.dtype,
    ) -> Tensor:
        """The loss [N] over the targets and the S words of a draw."""
        ids, tries = sampler.draw()
        negatives = ids.to(targets.device)  # [S]
        words = torch.cat([negatives, targets])  # [S + N]
        sizes = [len(negatives), len(targets)]
        correction = sampler.log_expected_counts(words, tries)  # [S + N]
        weight, own_weight = self.weight.index_select(0, words).split(sizes)
        bias, own_bias = (self.bias.index_select(0, words) - correction).split(sizes)
        true = (hidden * own_weight).sum(1) + own_bias  # [N]
        hits = _hits(targets, negatives)
        others = _LogSumExp.apply(hidden, weight, bias, hits, precision)  # [N]
        return torch.logaddexp(true, others) - true


class _LogSumExp(torch.autograd.Function):
    """
    `lse_n = ln sum_k exp(w_k h_n + b_k)` [N] for `hidden` [N, P], `weight` [S, P] and
    `bias` [S], with products in `precision` and sums in float32 (float64 for float64
    `hidden`). `hits` [N] is a column to leave out of each row, or `NO_HIT`. Without
    `precision` and `hits`, `(hidden @ weight.T + bias).logsumexp(1)`.

    The gradient is that of the softmax `p_nk = exp(z_nk - lse_n)`, for incoming
    gradients `g_n`:

        dh_n = g_n sum_k p_nk w_k
        dw_k = sum_n g_n p_nk h_n
        db_k = sum_n g_n p_nk

    With `m_n` the largest logit of a row, `e_nk = exp(z_nk - m_n)` and `t_n = sum_k
    e_nk`, it is `p_nk = e_nk / t_n`. Saved are only `e`, in the products' type, and
    `t`: the gradients are two products with `e`, with `g_n / t_n` applied to the
    smaller operand. Powers are of base 2, which are many times faster on CPUs than
    powers of e.
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
        scaled = (hidden * _LOG2_E).to(precision)  # [N, P]
        low_weight = weight.to(precision)  # [S, P]
        bias = bias * _LOG2_E  # [S]
        rows = len(hidden)
        powers = scaled.new_empty(rows, len(weight))  # e, [N, S]
        top = bias.new_empty(rows)  # m, base 2, [N]
        total = bias.new_empty(rows)  # t, [N]
        step = max(1, _BLOCK // len(weight))
        for start in range(0, rows, step):
            part = slice(start, start + step)
            products = functional.linear(scaled[part], low_weight)
            logits = products.to(bias.dtype).add_(bias)  # [step, S]
            if hits is not None:
                _mask_hits(logits, hits[part])
            top[part], total[part] = _to_powers(logits)
            powers[part] = logits
        ctx.save_for_backward(scaled, low_weight, powers, total)
        ctx.dtypes = hidden.dtype, weight.dtype
        return (top + total.log2()) / _LOG2_E

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, *gradients: Any) -> Any:
        scaled, weight, powers, total = ctx.saved_tensors
        hidden_type, weight_type = ctx.dtypes
        factor = (gradients[0] / total)[:, None]  # g / t, [N, 1]
        d_hidden = (powers @ weight).to(hidden_type) * factor  # [N, P]
        # The weights' gradient, and the bias's as its last column: one product.
        weighted = scaled * (factor / _LOG2_E)  # h g / t, [N, P]
        operand = torch.cat([weighted, factor], 1).to(powers.dtype)  # [N, P + 1]
        d_both = powers.t() @ operand  # [S, P + 1]
        d_weight = d_both[:, :-1].to(weight_type)
        d_bias = d_both[:, -1].to(total.dtype)
        return d_hidden, d_weight, d_bias, None, None


def _to_powers(logits: Tensor) -> tuple[Tensor, Tensor]:
    """
    Replace base-2 logits [N, S] by powers relative to each row's maximum, `2^(z - m)`,
    in place; return the maxima and the sums [N].
    """
    top = logits.amax(1)  # [N]
    powers = logits.sub_(top[:, None]).exp2_()
    return top, powers.sum(1)


def _hits(targets: Tensor, negatives: Tensor) -> Tensor:
    """The index of each of N targets in the S ascending negatives, or `NO_HIT`: [N]."""
    index = torch.searchsorted(negatives, targets).clamp_max_(len(negatives) - 1)
    return torch.where(negatives[index] == targets, index, NO_HIT)


def _mask_hits(logits: Tensor, hits: Tensor) -> None:
    """
    Set the logit of each row's hit to minus infinity, in place, for logits [N, S] and
    hits [N].
    """
    rows = torch.arange(len(hits), device=hits.device)
    # A row without a hit reads its last column and writes it back.
    logits[rows, hits] = logits[rows, hits].masked_fill(hits >= 0, -math.inf)
