"""The output softmax against slow computations of its definition."""

import math
from collections.abc import Iterator
from itertools import count

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining import softmax as softmax_module
from elmo_tasks.pretraining.softmax import NO_HIT, Draw, LogUniformSampler, OutputSoftmax, log_sum_exp

VOCABULARY, WIDTH, NEGATIVES = 40, 6, 9

DRAW = Draw(torch.tensor([0, 1, 2, 5, 7, 11, 17, 23, 38]), 31)
"""Nine negatives that took 31 tries; a test's targets lie among them and beside them."""

TARGETS = torch.tensor([0, 3, 38, 39, 5, 5, 12, 30])


def sampled_softmax(dtype: torch.dtype = torch.float32) -> OutputSoftmax:
    """A layer whose next draws are all `DRAW`, with biases that are not zero."""
    layer = OutputSoftmax(VOCABULARY, WIDTH, negatives=NEGATIVES).to(dtype)
    torch.nn.init.normal_(layer.bias)
    assert layer.sampler is not None
    layer.sampler.draw = lambda: DRAW  # type: ignore[method-assign]
    return layer


def hidden_states(rows: int = len(TARGETS), dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(rows, WIDTH, dtype=dtype, requires_grad=True)


def slow_sampled_loss(layer: OutputSoftmax, hidden: Tensor, targets: Tensor, draw: Draw) -> np.ndarray:
    """The definition, a position and a word at a time."""
    weight, bias = layer.weight.detach().double().numpy(), layer.bias.detach().double().numpy()
    losses = []
    for vector, target in zip(hidden.detach().double().numpy(), targets.tolist(), strict=True):

        def logit(word: int, vector: np.ndarray = vector) -> float:
            law = math.log((word + 2) / (word + 1)) / math.log(VOCABULARY + 1)
            return weight[word] @ vector + bias[word] - math.log(1.0 - (1.0 - law) ** draw.tries)

        others = [logit(word) for word in draw.ids.tolist() if word != target]
        true = logit(target)
        losses.append(math.log(sum(math.exp(value) for value in [true, *others])) - true)
    return np.array(losses)


def test_sampled_loss_is_its_definition() -> None:
    layer, hidden = sampled_softmax(), hidden_states()
    hits = sum(target in DRAW.ids.tolist() for target in TARGETS.tolist())
    assert 0 < hits < len(TARGETS)
    expected = slow_sampled_loss(layer, hidden, TARGETS, DRAW)
    np.testing.assert_allclose(layer.loss(hidden, TARGETS).detach().numpy(), expected, rtol=2e-6)


def test_sampled_loss_uses_the_draw_of_the_seed() -> None:
    layer, hidden = OutputSoftmax(VOCABULARY, WIDTH, negatives=NEGATIVES), hidden_states()
    assert layer.sampler is not None
    torch.manual_seed(5)
    draw = layer.sampler.draw()
    torch.manual_seed(5)
    losses = layer.loss(hidden, TARGETS)
    np.testing.assert_allclose(losses.detach().numpy(), slow_sampled_loss(layer, hidden, TARGETS, draw), rtol=2e-6)
    assert not torch.equal(losses, layer.loss(hidden, TARGETS))


def test_all_words_as_negatives_with_certainty_is_the_exact_softmax() -> None:
    """After endless tries every word is expected once, so that nothing is corrected and nothing counts twice."""
    layer, hidden = sampled_softmax(), hidden_states()
    assert layer.sampler is not None
    layer.sampler.draw = lambda: Draw(torch.arange(VOCABULARY), 10**6)  # type: ignore[method-assign]
    expected = functional.cross_entropy(functional.linear(hidden, layer.weight, layer.bias), TARGETS, reduction="none")
    torch.testing.assert_close(layer.loss(hidden, TARGETS), expected, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("negatives", [None, VOCABULARY, VOCABULARY + 5])
def test_full_softmax_where_negatives_are_none_or_all(negatives: int | None) -> None:
    layer, hidden = OutputSoftmax(VOCABULARY, WIDTH, negatives=negatives), hidden_states()
    torch.nn.init.normal_(layer.bias)
    assert layer.sampler is None
    expected = functional.cross_entropy(functional.linear(hidden, layer.weight, layer.bias), TARGETS, reduction="none")
    found = layer.loss(hidden, TARGETS)
    torch.testing.assert_close(found, expected, rtol=2e-6, atol=2e-6)
    wanted = torch.autograd.grad(expected.sum(), [hidden, layer.weight, layer.bias])
    torch.testing.assert_close(torch.autograd.grad(found.sum(), [hidden, layer.weight, layer.bias]), wanted)


@pytest.mark.parametrize("block", [2**21, 3 * NEGATIVES])
def test_gradient_of_the_sampled_loss(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one block of logits and in several."""
    monkeypatch.setattr(softmax_module, "_BLOCK", block)
    layer, hidden = sampled_softmax(torch.float64), hidden_states(dtype=torch.float64)

    def loss(hidden: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return torch.func.functional_call(_Loss(layer), {"layer.weight": weight, "layer.bias": bias}, (hidden,))

    inputs = (hidden, layer.weight.detach().clone().requires_grad_(), layer.bias.detach().clone().requires_grad_())
    # The correction is float32, constant, and so without influence on the gradient.
    assert torch.autograd.gradcheck(loss, inputs, atol=1e-7)


class _Loss(torch.nn.Module):
    def __init__(self, layer: OutputSoftmax) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, hidden: Tensor) -> Tensor:
        return self.layer.loss(hidden, TARGETS)


def test_gradient_of_the_log_sum_exp() -> None:
    hidden = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(7, 3, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(7, dtype=torch.float64, requires_grad=True)
    hits = torch.tensor([NO_HIT, 0, 6, NO_HIT, 3])
    assert torch.autograd.gradcheck(lambda *inputs: log_sum_exp(*inputs, hits=hits), (hidden, weight, bias))
    assert torch.autograd.gradcheck(log_sum_exp, (hidden, weight, bias))


def test_log_sum_exp_leaves_out_hits_only() -> None:
    hidden, weight, bias = torch.randn(3, 2), torch.randn(4, 2), torch.randn(4)
    logits = functional.linear(hidden, weight, bias)
    logits[1, 2] = -math.inf
    found = log_sum_exp(hidden, weight, bias, hits=torch.tensor([NO_HIT, 2, NO_HIT]))
    torch.testing.assert_close(found, logits.logsumexp(1))


def test_large_logits_do_not_overflow() -> None:
    layer, hidden = sampled_softmax(), hidden_states().detach() * 300.0
    losses = layer.loss(hidden, TARGETS)
    double = OutputSoftmax(VOCABULARY, WIDTH, negatives=None).double()
    double.load_state_dict(layer.state_dict())
    assert losses.max() > 500.0
    assert torch.isfinite(losses).all()
    exact = functional.cross_entropy(
        functional.linear(hidden.double(), double.weight, double.bias), TARGETS, reduction="none"
    )
    torch.testing.assert_close(layer.exact_nll(hidden, TARGETS).double(), exact, rtol=1e-5, atol=1e-3)


def test_bfloat16_is_close_to_float32() -> None:
    """
    Inputs, weights and logits have 8 significant bits. Logits here stay below 8, so that each is off by 8 / 2^9 = 0.016
    at most from its own rounding and about as much from that of its factors; sums over negatives average much of it.
    """
    layer = OutputSoftmax(2000, 64, negatives=500)
    hidden, targets = torch.randn(300, 64, requires_grad=True), torch.randint(0, 2000, (300,))
    results = []
    for precision in (torch.float32, torch.bfloat16):
        torch.manual_seed(1)
        losses = layer.loss(hidden, targets, precision=precision)
        results.append((losses, torch.autograd.grad(losses.mean(), [hidden, layer.weight, layer.bias])))
    (exact, exact_gradients), (short, short_gradients) = results
    assert short.dtype == torch.float32
    assert not torch.equal(exact, short)
    assert (exact - short).abs().max() < 0.03
    assert (exact - short).mean().abs() < 0.002
    for wanted, found in zip(exact_gradients, short_gradients, strict=True):
        assert found.dtype == torch.float32
        assert (wanted - found).norm() < 0.01 * wanted.norm()


@pytest.mark.parametrize("chunk", [1, 3, 2048])
def test_exact_nll_is_cross_entropy(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the chunk, and whatever the negatives of training; without gradient."""
    layer, hidden = sampled_softmax(), hidden_states()
    expected = functional.cross_entropy(functional.linear(hidden, layer.weight, layer.bias), TARGETS, reduction="none")
    found = layer.exact_nll(hidden, TARGETS, chunk=chunk)
    assert not found.requires_grad
    torch.testing.assert_close(found, expected.detach(), rtol=2e-6, atol=2e-6)
    monkeypatch.setattr(softmax_module, "_BLOCK", 1)
    torch.testing.assert_close(layer.exact_nll(hidden, TARGETS, chunk=chunk), found)


def test_exact_nll_holds_one_block_of_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softmax_module, "_BLOCK", 2 * VOCABULARY)
    sizes = []
    original = softmax_module._to_powers

    def measured(logits: Tensor) -> tuple[Tensor, Tensor]:
        sizes.append(logits.shape)
        return original(logits)

    monkeypatch.setattr(softmax_module, "_to_powers", measured)
    sampled_softmax().exact_nll(hidden_states(), TARGETS)
    assert sizes == [(2, VOCABULARY)] * 4


def test_initial_values() -> None:
    layer = OutputSoftmax(3000, 100)
    # 300,000 values: the standard deviation is known to 0.1 / sqrt(600,000), of which 5 are allowed.
    assert abs(layer.weight.std() - 0.1) < 0.00065
    assert layer.bias.count_nonzero() == 0


def test_log_uniform_law_is_a_law() -> None:
    sampler = LogUniformSampler(1000, 10)
    assert sampler.probabilities.sum().item() == pytest.approx(1.0, abs=1e-12)
    assert sampler.probabilities[0].item() == pytest.approx(math.log(2) / math.log(1001))
    assert sampler.probabilities[999].item() == pytest.approx(math.log(1001 / 1000) / math.log(1001))


def test_single_draws_follow_the_law() -> None:
    """Pearson's statistic of 20,000 single draws over 12 words; 11 degrees of freedom exceed 31.3 once in 1000."""
    sampler = LogUniformSampler(12, 1)
    draws = np.bincount(sampler._draws(20_000), minlength=12)
    expected = 20_000 * sampler.probabilities.numpy()
    assert ((draws - expected) ** 2 / expected).sum() < 31.3


def test_draw_is_the_first_distinct_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against a loop over the same draws, where the first block is enough and where it is not."""
    rounds = 0
    for block, negatives in ((4, 5), (3, 7), (64, 5), (2, 1)):
        sampler = LogUniformSampler(10, negatives)
        monkeypatch.setattr(sampler, "_block", block)
        endless = np.random.default_rng(block).integers(0, 10, 1000)
        given = _handed_out(endless)
        monkeypatch.setattr(sampler, "_draws", lambda size, given=given: np.array([next(given) for _ in range(size)]))
        seen: list[int] = []
        tries = next(tries for tries in count(1) if _see(seen, int(endless[tries - 1])) == negatives)
        draw = sampler.draw()
        assert draw.ids.tolist() == sorted(seen)
        assert draw.tries == tries
        rounds += 1
    assert rounds == 4


def _handed_out(values: np.ndarray) -> Iterator[int]:
    yield from values.tolist()


def _see(seen: list[int], value: int) -> int:
    if value not in seen:
        seen.append(value)
    return len(seen)


def test_inclusion_and_tries_of_a_small_law_are_exact() -> None:
    """
    Two of four words, where both have closed forms. 6,000 draws know a frequency to 0.0065 and, as the tries have a
    variance below 3, their mean to 0.022: four such deviations are allowed.
    """
    sampler, rounds = LogUniformSampler(4, 2), 6000
    law = sampler.probabilities.numpy()
    included, tries = np.zeros(4), 0
    for _ in range(rounds):
        draw = sampler.draw()
        included[draw.ids.numpy()] += 1
        tries += draw.tries
    expected = [law[k] + sum(law[j] * law[k] / (1 - law[j]) for j in range(4) if j != k) for k in range(4)]
    np.testing.assert_allclose(included / rounds, expected, atol=0.026)
    assert tries / rounds == pytest.approx(2 + (law / (1 - law) * law).sum(), abs=0.09)


def test_inclusion_is_close_to_the_expected_counts() -> None:
    """
    100 of 1,000 words in 1,500 draws. A frequency f is known to sqrt(f (1 - f) / 1500), of which 4.5 are allowed (1,000
    words exceed that once in 150 seeds); and q takes the number of tries for given although it stops at a new word,
    which is worth a try in some 300: half a percent more.
    """
    sampler, rounds = LogUniformSampler(1000, 100), 1500
    included, expected = np.zeros(1000), np.zeros(1000)
    for _ in range(rounds):
        draw = sampler.draw()
        assert len(draw.ids) == 100
        included[draw.ids.numpy()] += 1
        expected += sampler.log_expected_counts(torch.arange(1000), draw.tries).exp().numpy()
    frequency, expected = included / rounds, expected / rounds
    assert expected.sum() == pytest.approx(100, rel=0.005)
    allowed = 4.5 * np.sqrt(expected * (1 - expected) / rounds) + 0.005 * expected
    assert (np.abs(frequency - expected) <= allowed).all()


def test_the_seed_governs_the_draw() -> None:
    sampler = LogUniformSampler(1000, 50)
    draws = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        draws.append(sampler.draw().ids.tolist())
    assert draws[0] == draws[1] != draws[2]


def test_nearly_the_whole_vocabulary_can_be_drawn() -> None:
    draw = LogUniformSampler(300, 300).draw()
    assert draw.ids.tolist() == list(range(300))
    assert draw.tries > 300


@pytest.mark.parametrize(
    ("vocabulary_size", "negatives", "message"),
    [(1, None, "at least 2 words, found 1"), (9, 1, "at least 2 negatives, found 1"), (9, 0, "negatives, found 0")],
)
def test_impossible_sizes(vocabulary_size: int, negatives: int | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        OutputSoftmax(vocabulary_size, 4, negatives=negatives)


@pytest.mark.parametrize("negatives", [0, 11])
def test_impossible_draws(negatives: int) -> None:
    with pytest.raises(InputError, match=f"from 1 to the vocabulary's 10, found {negatives}"):
        LogUniformSampler(10, negatives)
