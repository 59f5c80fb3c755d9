"""The output softmax against slow implementations of its definition."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from elmo_tasks.pretraining.softmax import LogUniformSampler, OutputSoftmax

VOCABULARY, WIDTH, NEGATIVES = 40, 6, 9

TARGETS = torch.tensor([0, 3, 38, 39, 5, 5, 12, 30])


def sampled_softmax(dtype: torch.dtype = torch.float32) -> OutputSoftmax:
    """A layer with nonzero biases."""
    layer = OutputSoftmax(VOCABULARY, WIDTH, negatives=NEGATIVES).to(dtype)
    torch.nn.init.normal_(layer.bias)
    return layer


def draw_of(layer: OutputSoftmax) -> tuple[Tensor, int]:
    """The negatives that `loss_of` draws, and the tries that they take."""
    assert layer.sampler is not None
    torch.manual_seed(5)
    return layer.sampler.draw()


def loss_of(layer: OutputSoftmax, hidden: Tensor, targets: Tensor) -> Tensor:
    """The loss with the negatives of one seed."""
    torch.manual_seed(5)
    return layer.loss(hidden, targets)


def hidden_states(
    rows: int = len(TARGETS), dtype: torch.dtype = torch.float32
) -> Tensor:
    return torch.randn(rows, WIDTH, dtype=dtype, requires_grad=True)


def slow_sampled_loss(
    layer: OutputSoftmax, hidden: Tensor, targets: Tensor, draw: tuple[Tensor, int]
) -> np.ndarray:
    """The definition, one position and word at a time."""
    weight, bias = (
        layer.weight.detach().double().numpy(),
        layer.bias.detach().double().numpy(),
    )
    losses = []
    for vector, target in zip(
        hidden.detach().double().numpy(), targets.tolist(), strict=True
    ):

        def logit(word: int, vector: np.ndarray = vector) -> float:
            law = math.log((word + 2) / (word + 1)) / math.log(VOCABULARY + 1)
            return (
                weight[word] @ vector
                + bias[word]
                - math.log(1.0 - (1.0 - law) ** draw[1])
            )

        true = logit(target)
        total = math.exp(true)
        for word in draw[0].tolist():
            if word != target:
                total += math.exp(logit(word))
        losses.append(math.log(total) - true)
    return np.array(losses)


def test_sampled_loss_against_its_definition() -> None:
    layer, hidden = sampled_softmax(), hidden_states()
    draw = draw_of(layer)
    hits = sum(target in draw[0].tolist() for target in TARGETS.tolist())
    assert 0 < hits < len(TARGETS) and draw[1] > len(draw[0])
    expected = slow_sampled_loss(layer, hidden, TARGETS, draw)
    np.testing.assert_allclose(
        loss_of(layer, hidden, TARGETS).detach().numpy(), expected, rtol=2e-6
    )


@pytest.mark.parametrize("negatives", [None, VOCABULARY, VOCABULARY + 5])
def test_full_softmax_for_no_or_all_negatives(negatives: int | None) -> None:
    layer, hidden = (
        OutputSoftmax(VOCABULARY, WIDTH, negatives=negatives),
        hidden_states(),
    )
    torch.nn.init.normal_(layer.bias)
    assert layer.sampler is None
    expected = functional.cross_entropy(
        functional.linear(hidden, layer.weight, layer.bias), TARGETS, reduction="none"
    )
    found = layer.loss(hidden, TARGETS)
    torch.testing.assert_close(found, expected, rtol=2e-6, atol=2e-6)
    reference = torch.autograd.grad(expected.sum(), [hidden, layer.weight, layer.bias])
    torch.testing.assert_close(
        torch.autograd.grad(found.sum(), [hidden, layer.weight, layer.bias]), reference
    )


def test_gradient_of_the_sampled_loss() -> None:
    layer, hidden = sampled_softmax(torch.float64), hidden_states(dtype=torch.float64)
    # The correction is float32 and constant, so that it does not affect the gradient.
    inputs = (hidden, layer.weight, layer.bias)
    assert torch.autograd.gradcheck(
        lambda *_: loss_of(layer, hidden, TARGETS), inputs, atol=1e-7
    )


def test_sampled_loss_in_several_blocks() -> None:
    """
    Of logits, 2^21 at a time: losses and gradients are those of autograd for all at
    once.
    """
    rows = 2**21 // NEGATIVES + 1000
    layer = sampled_softmax(torch.float64)
    hidden = hidden_states(rows, dtype=torch.float64)
    targets = torch.randint(VOCABULARY, (rows,))
    ids, tries = draw_of(layer)
    assert layer.sampler is not None
    law = -torch.log1p(-layer.sampler.probabilities)  # [V]
    corrected = layer.bias - (-torch.expm1(-tries * law)).log()  # [V]
    logits = hidden @ layer.weight[ids].t() + corrected[ids]  # [N, S]
    logits = logits.masked_fill(ids == targets[:, None], -torch.inf)
    true = (hidden * layer.weight[targets]).sum(1) + corrected[targets]  # [N]
    expected = torch.cat([true[:, None], logits], 1).logsumexp(1) - true
    found = loss_of(layer, hidden, targets)
    weights = torch.rand(rows, dtype=torch.float64)
    inputs = [hidden, layer.weight, layer.bias]
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(
        torch.autograd.grad((found * weights).sum(), inputs),
        torch.autograd.grad((expected * weights).sum(), inputs),
        rtol=1e-5,
        atol=1e-5,
    )


def test_large_logits_do_not_overflow() -> None:
    layer, hidden = sampled_softmax(), hidden_states().detach() * 300.0
    losses = loss_of(layer, hidden, TARGETS)
    assert losses.max() > 500.0 and torch.isfinite(losses).all()
    logits = functional.linear(
        hidden.double(), layer.weight.double(), layer.bias.double()
    )
    exact = functional.cross_entropy(logits, TARGETS, reduction="none")
    torch.testing.assert_close(
        layer.exact_nll(hidden, TARGETS).double(), exact, rtol=1e-5, atol=1e-3
    )


@pytest.mark.parametrize("chunk", [1, 3, 2048])
def test_exact_nll_is_cross_entropy(chunk: int) -> None:
    """For any chunk and any negatives of training; without gradient."""
    layer, hidden = sampled_softmax(), hidden_states()
    expected = functional.cross_entropy(
        functional.linear(hidden, layer.weight, layer.bias), TARGETS, reduction="none"
    )
    found = layer.exact_nll(hidden, TARGETS, chunk=chunk)
    assert not found.requires_grad
    torch.testing.assert_close(found, expected.detach(), rtol=2e-6, atol=2e-6)


def test_inclusion_matches_the_expected_counts() -> None:
    """
    100 of 1,000 words in 1,500 draws. The standard error of a frequency f is sqrt(f (1
    - f) / 1500); 4.5 times that is allowed, and half a percent more, since q treats the
    number of tries as given although it stops at a new word.
    """
    sampler, rounds = LogUniformSampler(1000, 100), 1500
    included, expected = np.zeros(1000), np.zeros(1000)
    for _ in range(rounds):
        draw = sampler.draw()
        assert len(draw[0]) == 100
        included[draw[0].numpy()] += 1
        expected += (
            sampler.log_expected_counts(torch.arange(1000), draw[1]).exp().numpy()
        )
    frequency, expected = included / rounds, expected / rounds
    assert expected.sum() == pytest.approx(100, rel=0.005)
    allowed = 4.5 * np.sqrt(expected * (1 - expected) / rounds) + 0.005 * expected
    assert (np.abs(frequency - expected) <= allowed).all()


def test_draws_are_distinct_and_ascending() -> None:
    for words, negatives in ((2, 1), (2, 2), (10, 9), (1000, 30)):
        sampler = LogUniformSampler(words, negatives)
        for _ in range(20):
            ids, tries = sampler.draw()
            assert ids.dtype == torch.int64 and tries >= len(ids) == negatives
            assert ids.tolist() == sorted(set(ids.tolist()))
            assert ids[0] >= 0 and ids[-1] < words


@pytest.mark.parametrize("negatives", [None, NEGATIVES])
def test_products_of_bfloat16(negatives: int | None) -> None:
    """Sums and the loss are float32, gradients are of the parameters' type."""
    layer = OutputSoftmax(VOCABULARY, WIDTH, negatives=negatives)
    hidden = hidden_states()
    exact = loss_of(layer, hidden, TARGETS)
    torch.manual_seed(5)
    found = layer.loss(hidden, TARGETS, precision=torch.bfloat16)
    assert found.dtype == torch.float32 and not torch.equal(found, exact)
    torch.testing.assert_close(found, exact, rtol=0.02, atol=0.05)
    expected = torch.autograd.grad(exact.sum(), [hidden, layer.weight, layer.bias])
    gradients = torch.autograd.grad(found.sum(), [hidden, layer.weight, layer.bias])
    for one, other in zip(gradients, expected, strict=True):
        assert one.dtype == torch.float32
        torch.testing.assert_close(one, other, rtol=0.1, atol=0.05)


def test_there_is_no_second_derivative() -> None:
    """Also after a sum, where the gradient that comes in has no gradient."""
    layer, hidden = sampled_softmax(), hidden_states()
    losses = loss_of(layer, hidden, TARGETS)
    with pytest.raises(RuntimeError, match="LogSumExp.backward has no second deriv"):
        torch.autograd.grad(losses.sum(), hidden, create_graph=True)
