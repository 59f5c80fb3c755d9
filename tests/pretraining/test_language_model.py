"""The joint objective: what it sums, what it carries, what it shares."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.bilm.characters import tokens_to_ids
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.language_model import (
    DIRECTIONS,
    BiLanguageModel,
    LmOutput,
    LmStates,
)
from elmo_tasks.pretraining.perplexity import Perplexity
from elmo_tasks.pretraining.softmax import OutputSoftmax
from elmo_tasks.pretraining.stream import LmBatch

WORDS = 30
"""Classes of the softmax."""

TOKENS = ["<S>", "</S>", "a", "lamp", "kept", "burning", "ünd", "over-the-counter", "incomprehensibilities", "x" * 60]


def language_model(
    *, dropout: float = 0.0, precision: str = "float32", negatives: int | None = None, n_layers: int = 2
) -> BiLanguageModel:
    """A small random model with biases that are not zero."""
    options = BiLMOptions(filters=((1, 4), (3, 6)), n_highway=1, dim=12, projection_dim=6, n_layers=n_layers)
    softmax = OutputSoftmax(WORDS, 6, negatives=negatives)
    nn.init.normal_(softmax.bias)
    return BiLanguageModel(BiLM(options), softmax, dropout=dropout, precision=precision)


def random_batch(steps: int = 6, rows: int = 3, tokens: Sequence[str] = TOKENS) -> LmBatch:
    shape = (steps, rows)
    return LmBatch(
        characters=torch.from_numpy(tokens_to_ids(tokens).astype("int64")),
        forward_inputs=torch.randint(len(tokens), shape),
        backward_inputs=torch.randint(len(tokens), shape),
        forward_targets=torch.randint(WORDS, shape),
        backward_targets=torch.randint(WORDS, shape),
        forward_mask=torch.ones(shape, dtype=torch.bool),
        backward_mask=torch.ones(shape, dtype=torch.bool),
        unknown=0,
    )


def steps_of(batch: LmBatch, steps: slice) -> LmBatch:
    """Some time steps of a batch."""
    return replace(batch, **{name: value[steps] for name, value in vars(batch).items() if name.startswith(DIRECTIONS)})


def gradients(module: nn.Module) -> list[Tensor | None]:
    return [parameter.grad for parameter in module.parameters()]


@pytest.mark.parametrize("training", [False, True])
def test_two_short_batches_equal_a_long_one(training: bool) -> None:
    model, batch = language_model().train(training), random_batch(steps=8)
    whole = model(batch)
    first = model(steps_of(batch, slice(0, 4)))
    second = model(steps_of(batch, slice(4, 8)), first.states)
    torch.testing.assert_close(first.forward_nll + second.forward_nll, whole.forward_nll, rtol=1e-6, atol=0)
    torch.testing.assert_close(first.backward_nll + second.backward_nll, whole.backward_nll, rtol=1e-6, atol=0)
    torch.testing.assert_close(second.states.to_tensors(), whole.states.to_tensors(), rtol=0, atol=1e-6)
    forgetful = model(steps_of(batch, slice(4, 8)))
    assert not torch.isclose(forgetful.forward_nll, second.forward_nll)
    assert not torch.isclose(forgetful.backward_nll, second.backward_nll)


def test_carried_states_have_no_history() -> None:
    model = language_model()
    states = model(random_batch()).states
    tensors = states.to_tensors()
    assert len(tensors) == 8
    assert not any(tensor.requires_grad for tensor in tensors.values())
    model(random_batch(), states).loss.backward()


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_directions_read_different_text(direction: str) -> None:
    """New inputs and targets of one direction change its loss and its states, and nothing of the other's."""
    model, batch = language_model().eval(), random_batch()
    other = next(name for name in DIRECTIONS if name != direction)
    for part in ("inputs", "targets"):
        changed = replace(batch, **{f"{direction}_{part}": getattr(random_batch(), f"{direction}_{part}")})
        before, after = model(batch), model(changed)
        assert getattr(before, f"{direction}_nll") != getattr(after, f"{direction}_nll")
        assert getattr(before, f"{other}_nll") == getattr(after, f"{other}_nll")
        for (cell, _), (same_cell, _) in zip(getattr(before.states, other), getattr(after.states, other), strict=True):
            assert torch.equal(cell, same_cell)


def test_losses_are_those_of_the_bilm_as_it_is_used() -> None:
    """A sentence as stream gives what `BiLM` makes of it: its top layer under the softmax, at every token."""
    model = language_model().eval()
    sentence = ["a", "lamp", "kept", "burning"]
    words = ["<S>", *sentence, "</S>"]
    targets = torch.randint(WORDS, (2, 5))
    mask = torch.tensor([False, True, True, True, True])[:, None]  # BiLM strips the boundaries' own vectors
    batch = LmBatch(
        characters=torch.from_numpy(tokens_to_ids(words).astype("int64")),
        forward_inputs=torch.arange(0, 5)[:, None],
        backward_inputs=torch.arange(5, 0, -1)[:, None],
        forward_targets=targets[0][:, None],
        backward_targets=targets[1][:, None],
        forward_mask=mask,
        backward_mask=mask,
        unknown=0,
    )
    output = model(batch)
    top = model.bilm(batch_to_ids([sentence])).layers[-1, 0]  # [T, 2P]
    for half, ids, found in (
        (top[:, :6], targets[0][1:], output.forward_nll),
        (top.flip(0)[:, 6:], targets[1][1:], output.backward_nll),
    ):
        logits = functional.linear(half, model.softmax.weight, model.softmax.bias)
        torch.testing.assert_close(found, functional.cross_entropy(logits, ids, reduction="sum").detach())


def test_masked_positions_count_for_nothing() -> None:
    model, batch = language_model().eval(), random_batch()
    batch.forward_mask[-1, 0] = batch.backward_mask[:, 1] = False
    before = model(batch)
    assert (int(before.forward_count), int(before.backward_count)) == (17, 12)
    batch.forward_targets[-1, 0] = (batch.forward_targets[-1, 0] + 1) % WORDS
    batch.backward_targets[:, 1] = (batch.backward_targets[:, 1] + 1) % WORDS
    after = model(batch)
    assert (before.forward_nll, before.backward_nll) == (after.forward_nll, after.backward_nll)
    batch.forward_mask[-1, 0] = True
    assert model(batch).forward_nll > before.forward_nll


def test_loss_is_the_mean_of_the_directions_means() -> None:
    states = LmStates([], [])
    output = LmOutput(torch.tensor(6.0), torch.tensor(20.0), torch.tensor(3), torch.tensor(4), states)
    assert output.loss.item() == pytest.approx((6 / 3 + 20 / 4) / 2)
    one_sided = output._replace(backward_nll=torch.tensor(0.0), backward_count=torch.tensor(0))
    assert one_sided.loss.item() == pytest.approx(1.0)


def test_training_samples_and_evaluation_is_exact() -> None:
    model, batch = language_model(negatives=5), random_batch()
    exact = model.eval()(batch)
    assert exact.forward_nll == model(batch).forward_nll
    assert not exact.forward_nll.requires_grad
    model.train()
    assert model(batch).forward_nll != model(batch).forward_nll
    full = language_model()
    full.load_state_dict(model.state_dict())
    torch.testing.assert_close(full.train()(batch).forward_nll.detach(), exact.forward_nll)


def test_dropout_works_in_training_only() -> None:
    model, batch = language_model(dropout=0.4), random_batch()
    plain = language_model()
    plain.load_state_dict(model.state_dict())
    assert model.train()(batch).forward_nll != model(batch).forward_nll
    assert model.eval()(batch).forward_nll == plain.eval()(batch).forward_nll
    assert plain.train()(batch).forward_nll == plain(batch).forward_nll


def test_dropout_is_at_each_layers_input_and_before_the_softmax(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares of zeros among 20 x 50 x 6 values, whose deviation is 0.006 at most: five of them are allowed."""
    model = language_model(dropout=0.3).train()
    shares: list[float] = []

    def look(tensor: Tensor) -> None:
        shares.append((tensor == 0).double().mean().item())

    for stack in (model.bilm.forward_stack, model.bilm.backward_stack):
        for layer in stack.layers:
            layer.register_forward_pre_hook(lambda _, inputs: look(inputs[0]))
    loss = model.softmax.loss

    def watched(hidden: Tensor, targets: Tensor, *, precision: torch.dtype | None) -> Tensor:
        look(hidden)
        return loss(hidden, targets, precision=precision)

    monkeypatch.setattr(model.softmax, "loss", watched)
    model(random_batch(steps=20, rows=50))
    assert shares == pytest.approx([0.3] * 6, abs=0.03)
    shares.clear()
    model.dropout = 0.0
    model(random_batch(steps=20, rows=50))
    assert shares == [0.0] * 6


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_encoder_and_softmax_are_shared_and_stacks_are_not(direction: str) -> None:
    """The gradient of one direction's loss reaches what is shared and its own LSTMs, and not the other's."""
    model = language_model(negatives=12).train()
    other = next(name for name in DIRECTIONS if name != direction)
    getattr(model(random_batch()), f"{direction}_nll").backward()
    shared = [model.bilm.token_encoder, model.softmax, getattr(model.bilm, f"{direction}_stack")]
    reached = [gradient for module in shared for gradient in gradients(module)]
    assert len(reached) == sum(1 for module in shared for _ in module.parameters()) > 10
    assert all(gradient is not None and gradient.any() for gradient in reached)
    assert gradients(getattr(model.bilm, f"{other}_stack")) == [None] * 8


def test_gradients_of_the_directions_add_up_in_what_they_share() -> None:
    model, batch = language_model(), random_batch()
    parts = []
    for direction in DIRECTIONS:
        model.zero_grad()
        getattr(model(batch), f"{direction}_nll").backward()
        parts.append([model.softmax.weight.grad, model.bilm.token_encoder.characters.grad])
    model.zero_grad()
    output = model(batch)
    (output.forward_nll + output.backward_nll).backward()
    joint = [model.softmax.weight.grad, model.bilm.token_encoder.characters.grad]
    torch.testing.assert_close(joint, [one + two for one, two in zip(*parts, strict=True)])


def test_bfloat16_training_is_close_to_float32() -> None:
    """
    Eight significant bits in every product of the chain: 2^-9 each, of which some ten follow each other here. Below
    the token encoder's maximum more: where two windows nearly tie, rounding hands the gradient to the other one.
    """
    exact, batch = language_model().train(), random_batch(steps=10, rows=20)
    short = language_model(precision="bfloat16").train()
    short.load_state_dict(exact.state_dict())
    outputs = [model(batch) for model in (exact, short)]
    for output in outputs:
        output.loss.backward()
    assert outputs[1].loss.dtype == torch.float32
    # A frequent token's gradient is a sum over all its places, which bfloat16 would cut short.
    assert short._encode(batch.characters).dtype == torch.float32
    assert outputs[0].loss != outputs[1].loss
    assert outputs[1].loss.item() == pytest.approx(outputs[0].loss.item(), rel=2e-3)
    compared = 0
    for (name, wanted), (_, found) in zip(exact.named_parameters(), short.named_parameters(), strict=True):
        assert found.dtype == found.grad.dtype == torch.float32
        allowed = 0.2 if "characters" in name or "convolutions" in name else 0.02
        assert (wanted.grad - found.grad).norm() < allowed * wanted.grad.norm(), name
        compared += 1
    assert compared == len(list(exact.parameters())) > 20


def test_bfloat16_leaves_evaluation_alone() -> None:
    exact, batch = language_model().eval(), random_batch()
    short = language_model(precision="bfloat16").eval()
    short.load_state_dict(exact.state_dict())
    assert short(batch).forward_nll == exact(batch).forward_nll
    assert short(batch).states.forward[0][0].dtype == torch.float32


def test_sampled_training_learns() -> None:
    """Thirty steps on one batch bring the exact perplexity from about that of chance to a few words."""
    model, batch = language_model(negatives=20, dropout=0.1), random_batch(steps=5, rows=2)
    nn.init.zeros_(model.softmax.bias)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    before = model.eval()(batch).loss.item()
    model.train()
    for _ in range(30):
        optimizer.zero_grad()
        model(batch).loss.backward()
        optimizer.step()
    assert before > 3.0
    assert model.eval()(batch).loss.item() < 2.0


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_cuda_agrees_with_the_cpu(precision: str) -> None:
    model, batch = language_model(precision=precision, negatives=12).train(), random_batch()
    losses = []
    for device in ("cpu", "cuda"):
        torch.manual_seed(1)
        output = model.to(device)(batch.to(device), None)
        output.loss.backward()
        losses.append(output.loss.item())
    assert losses[1] == pytest.approx(losses[0], rel=1e-2 if precision == "bfloat16" else 1e-5)


def test_states_survive_a_flat_dictionary() -> None:
    states = language_model(n_layers=3)(random_batch()).states
    tensors = {**states.to_tensors("lm."), "lm_other": torch.zeros(1), "weight": torch.zeros(2)}
    assert "lm.backward.2.cell" in tensors
    found = LmStates.from_tensors(tensors, "lm.")
    for name in DIRECTIONS:
        assert len(getattr(found, name)) == 3
        for pair, wanted in zip(getattr(found, name), getattr(states, name), strict=True):
            assert torch.equal(pair[0], wanted[0])
            assert torch.equal(pair[1], wanted[1])


@pytest.mark.parametrize("lost", ["forward.1.hidden", "forward.0.cell", "backward."])
def test_incomplete_states_are_refused(lost: str) -> None:
    tensors = language_model()(random_batch()).states.to_tensors()
    kept = {name: tensor for name, tensor in tensors.items() if not name.startswith(lost)}
    with pytest.raises(InputError, match="a cell and a hidden state per layer were wanted under '(for|back)ward.'"):
        LmStates.from_tensors(kept)


def test_states_of_another_batch_size_are_refused() -> None:
    model = language_model()
    states = model(random_batch(rows=3)).states
    with pytest.raises(InputError, match=r"carried states have 3 rows, the batch has 4 \(continue with the same"):
        model(random_batch(rows=4), states)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"precision": "float16"}, "precision must be one of float32, bfloat16, found 'float16'"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, found 1.0"),
        ({"dropout": -0.1}, "dropout must be at least 0 and below 1, found -0.1"),
    ],
)
def test_impossible_settings(settings: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        language_model(**settings)


def test_softmax_of_another_width_is_refused() -> None:
    with pytest.raises(InputError, match="as wide as projection_dim 6, found 8"):
        BiLanguageModel(language_model().bilm, OutputSoftmax(WORDS, 8))


def test_perplexity_of_a_batch_is_that_of_its_mean_loss() -> None:
    model, batch = language_model().eval(), random_batch()
    perplexity = Perplexity()
    perplexity.add(model(batch), batch)
    assert perplexity.report().geometric == pytest.approx(math.exp(model(batch).loss.item()))
