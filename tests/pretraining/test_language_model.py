"""The joint objective: sums, carried states, shared parameters."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.bilm.characters import tokens_to_ids
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.pretraining.language_model import BiLanguageModel, LmOutput
from elmo_tasks.pretraining.softmax import OutputSoftmax
from elmo_tasks.pretraining.text.stream import LmBatch

WORDS = 30
"""Classes of the softmax."""

TOKENS = [
    "<S>",
    "</S>",
    "a",
    "lamp",
    "kept",
    "burning",
    "ünd",
    "over-the-counter",
    "incomprehensibilities",
    "x" * 60,
]


def language_model(
    *, dropout: float = 0.0, precision: str = "float32", negatives: int | None = None
) -> BiLanguageModel:
    """A small random model with nonzero biases."""
    options = BiLMOptions(
        filters=((1, 4), (3, 6)), n_highway=1, dim=12, projection_dim=6, n_layers=2
    )
    softmax = OutputSoftmax(WORDS, 6, negatives=negatives)
    nn.init.normal_(softmax.bias)
    return BiLanguageModel(BiLM(options), softmax, dropout=dropout, precision=precision)


def random_batch(
    steps: int = 6, rows: int = 3, tokens: Sequence[str] = TOKENS
) -> LmBatch:
    shape = (2, steps, rows)
    return LmBatch(
        characters=torch.from_numpy(tokens_to_ids(tokens).astype("int64")),
        inputs=torch.randint(len(tokens), shape),
        targets=torch.randint(WORDS, shape),
        mask=torch.ones(shape, dtype=torch.bool),
        unknown=0,
    )


def steps_of(batch: LmBatch, steps: slice) -> LmBatch:
    """Some time steps of a batch."""
    return replace(
        batch,
        inputs=batch.inputs[:, steps],
        targets=batch.targets[:, steps],
        mask=batch.mask[:, steps],
    )


@pytest.mark.parametrize("training", [False, True])
def test_two_short_batches_equal_a_long_one(training: bool) -> None:
    model, batch = language_model().train(training), random_batch(steps=8)
    whole = model(batch)
    first = model(steps_of(batch, slice(0, 4)))
    second = model(steps_of(batch, slice(4, 8)), first.states)
    torch.testing.assert_close(first.nll + second.nll, whole.nll, rtol=1e-6, atol=0)
    torch.testing.assert_close(second.states, whole.states, rtol=0, atol=1e-6)
    forgetful = model(steps_of(batch, slice(4, 8)))
    assert not torch.isclose(forgetful.nll, second.nll).any()


def test_losses_match_the_bilms_representations() -> None:
    """
    The loss of a sentence is that of the softmax on `BiLM`'s top layer, at every token.
    """
    model = language_model().eval()
    sentence = ["a", "lamp", "kept", "burning"]
    words = ["<S>", *sentence, "</S>"]
    targets = torch.randint(WORDS, (2, 5))
    mask = torch.tensor([False, True, True, True, True])[
        :, None
    ]  # BiLM strips the boundary vectors
    batch = LmBatch(
        characters=torch.from_numpy(tokens_to_ids(words).astype("int64")),
        inputs=torch.stack([torch.arange(0, 5), torch.arange(5, 0, -1)])[:, :, None],
        targets=targets[:, :, None],
        mask=mask.expand(2, -1, -1),
        unknown=0,
    )
    output = model(batch)
    top = model.bilm(batch_to_ids([sentence])).layers[-1, 0]  # [T, 2P]
    for half, ids, found in (
        (top[:, :6], targets[0][1:], output.nll[0]),
        (top.flip(0)[:, 6:], targets[1][1:], output.nll[1]),
    ):
        logits = functional.linear(half, model.softmax.weight, model.softmax.bias)
        torch.testing.assert_close(
            found, functional.cross_entropy(logits, ids, reduction="sum").detach()
        )


def test_training_samples_and_evaluation_is_exact() -> None:
    model, batch = language_model(negatives=5), random_batch()
    exact = model.eval()(batch)
    assert torch.equal(exact.nll, model(batch).nll) and not exact.nll.requires_grad
    model.train()
    assert not torch.equal(model(batch).nll, model(batch).nll)


def share_of_zeros(tensor: Tensor) -> float:
    return (tensor == 0).double().mean().item()


class WatchedSoftmax(OutputSoftmax):
    """Notes the share of zeros in what it is given."""

    def __init__(self, shares: list[float]) -> None:
        super().__init__(WORDS, 6)
        self.shares = shares

    def loss(self, hidden: Tensor, targets: Tensor, **options: Any) -> Tensor:
        self.shares.append(share_of_zeros(hidden))
        return super().loss(hidden, targets, **options)


def test_dropout_at_each_layer_input_and_before_the_softmax() -> None:
    """
    Fractions of zeros among 20 x 50 x 6 values, with a standard error of at most 0.006.
    """
    model = language_model(dropout=0.3)
    shares: list[float] = []

    def watch(module: Any, inputs: Any) -> None:
        shares.append(share_of_zeros(inputs[0]))

    for stack in (model.bilm.forward_stack, model.bilm.backward_stack):
        for layer in stack.layers:
            layer.register_forward_pre_hook(watch)
    model.softmax = WatchedSoftmax(shares)
    model.train()(random_batch(steps=20, rows=50))
    assert shares == pytest.approx([0.3] * 6, abs=0.03)


def test_bfloat16_training_is_close_to_float32() -> None:
    """
    Products have 8 significant bits: relative errors of 2^-9, of which about ten
    accumulate here. Below the token encoder's maximum they are larger: if two windows
    nearly tie, rounding moves the gradient to the other one.
    """
    exact = language_model().train()
    batch = random_batch(steps=10, rows=20)
    short = language_model(precision="emulated_bfloat16").train()
    short.load_state_dict(exact.state_dict())
    outputs = [model(batch) for model in (exact, short)]
    for output in outputs:
        output.loss.backward()
    assert outputs[1].loss.dtype == torch.float32
    # A frequent token's gradient is a sum over all its positions, which needs float32.
    vectors = short._encode(batch.characters, torch.bfloat16)
    assert vectors.dtype == torch.float32
    assert outputs[0].loss != outputs[1].loss
    assert outputs[1].loss.item() == pytest.approx(outputs[0].loss.item(), rel=2e-3)
    for (name, expected), (_, found) in zip(
        exact.named_parameters(), short.named_parameters(), strict=True
    ):
        assert found.dtype == found.grad.dtype == torch.float32
        allowed = 0.2 if "characters" in name or "convolutions" in name else 0.02
        assert (expected.grad - found.grad).norm() < allowed * expected.grad.norm(), (
            name
        )


def test_autocast_sets_the_type_of_products_in_training() -> None:
    model, batch = language_model(), random_batch()
    found = []
    for precision, enabled in (("float32", True), ("emulated_bfloat16", False)):
        model.precision = precision
        model.train().zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
            loss = model(batch).loss
        loss.backward()
        found.append([loss] + [weight.grad for weight in model.parameters()])
    for by_autocast, by_key in zip(found[0], found[1], strict=True):
        assert torch.equal(by_autocast, by_key)
    exact = model.eval()(batch).loss
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(model(batch).loss, exact)


@pytest.mark.parametrize(
    ("nll", "counts", "expected"),
    [([2.0, 3.0], [4, 2], 1.0), ([0.0, 3.0], [0, 2], 0.75), ([1.0, 1.0], [1, 1], 1.0)],
)
def test_the_loss_is_the_mean_of_the_directions(
    nll: list[float], counts: list[int], expected: float
) -> None:
    output = LmOutput(torch.tensor(nll), torch.tensor(counts), {})
    assert output.loss.item() == pytest.approx(expected)


def test_masked_positions_do_not_count() -> None:
    model, batch = language_model().train(), random_batch()
    mask = torch.rand(batch.mask.shape) < 0.5
    found = model(replace(batch, mask=mask))
    assert found.counts.tolist() == mask.sum((1, 2)).tolist()
    other = torch.where(mask, batch.targets, (batch.targets + 1) % WORDS)
    same = model(replace(batch, mask=mask, targets=other))
    assert torch.equal(found.nll, same.nll)
    rest = model(replace(batch, mask=~mask))
    torch.testing.assert_close(found.nll + rest.nll, model(batch).nll)


def test_the_gradient_ends_at_the_carried_states() -> None:
    model, batch = language_model().train(), random_batch()
    output = model(batch)
    for states in output.states.values():
        for cell, hidden in states:
            assert not cell.requires_grad and not hidden.requires_grad
    assert output.nll.requires_grad
    assert list(output.states) == ["forward", "backward"]
