"""
All encoders: padding, gradients, widths, invalid settings; each against its equations,
and its initialization.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import Tensor, nn

from elmo_tasks.nn.character_cnn import CharacterCnn, CharacterCnns
from elmo_tasks.nn.encoders.coupled_lstm import CoupledLstm
from elmo_tasks.nn.encoders.gru import Gru
from elmo_tasks.nn.encoders.stacked_lstm import StackedLstm

ENCODERS: dict[str, tuple[dict[str, Any], int]] = {
    "coupled_lstm": ({"hidden_size": 3}, 6),
    "feedforward_lstm": ({"feedforward_size": 5, "hidden_sizes": [4, 3]}, 6),
    "gru": ({"hidden_size": 4}, 8),
    "highway_lstm": ({"hidden_size": 5, "num_layers": 3}, 5),
    "stacked_lstm": ({"hidden_sizes": [6, 3]}, 6),
}
"""The settings of each encoder, and the width of its output."""
LENGTHS = [3, 5, 1, 0, 5]
MASK = torch.arange(5)[None] < torch.tensor(LENGTHS)[:, None]


def make(name: str, **keys: Any) -> Seq2SeqEncoder:
    torch.manual_seed(2)
    settings, _ = ENCODERS[name]
    encoder = Seq2SeqEncoder.by_name(f"elmo_tasks_{name}")
    return encoder(input_size=4, **(settings | keys))


@pytest.mark.parametrize("name", ENCODERS)
def test_padding_has_no_effect(name: str) -> None:
    encoder = make(name)
    inputs = torch.randn(5, 5, 4)
    outputs = encoder(inputs, MASK)
    filled = inputs.masked_fill(~MASK[:, :, None], 1e6)
    assert torch.equal(encoder(filled, MASK), outputs)
    assert not outputs[~MASK].any()
    for row, length in enumerate(LENGTHS):
        if length:
            alone = encoder(
                inputs[row : row + 1, :length], MASK[row : row + 1, :length]
            )
            assert torch.allclose(outputs[row, :length], alone[0], atol=1e-6)


SPARSE = torch.arange(5)[None] < torch.tensor([5, 1, 0, 1, 1])[:, None]
"""Few words, which a stacked LSTM packs."""


@pytest.mark.parametrize("value", [torch.nan, torch.inf, 1e38])
@pytest.mark.parametrize("mask", [MASK, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", ENCODERS)
def test_what_is_at_padding_reaches_no_gradient(
    name: str, mask: Tensor, value: float
) -> None:
    inputs = torch.randn(5, 5, 4)
    found = []
    for given in (inputs, inputs.masked_fill(~mask[:, :, None], value)):
        encoder = make(name)
        given = given.clone().requires_grad_()
        outputs = encoder(given, mask)
        outputs.sin().sum().backward()
        gradients = [one.grad for one in (given, *encoder.parameters())]
        found.append([outputs.detach(), *gradients])
    for expected, one in zip(*found, strict=True):
        assert torch.equal(one, expected)
    assert not found[1][1][~mask].any()


@pytest.mark.parametrize("name", ENCODERS)
def test_second_derivatives_are_right_or_an_error(name: str) -> None:
    """After a sum, the gradient that comes in has no gradient."""
    encoder = make(name).double()
    weight = next(encoder.parameters())
    inputs = torch.randn(5, 5, 4).double()

    def penalty(given: Tensor) -> Tensor:
        outputs = encoder(given, MASK).sum()
        (gradient,) = torch.autograd.grad(outputs, weight, create_graph=True)
        return gradient.pow(2).sum()

    if name == "highway_lstm":
        with pytest.raises(RuntimeError, match="_Layer.backward has no second deriv"):
            penalty(inputs)
        return
    direction = torch.randn(5, 5, 4).double()
    given = inputs.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(penalty(given), given)
    step = 1e-5 * direction
    difference = (penalty(inputs + step) - penalty(inputs - step)).item() / 2e-5
    assert (gradient * direction).sum().item() == pytest.approx(difference, rel=1e-5)


@pytest.mark.parametrize("key", ["dropout", "feedforward_dropout"])
def test_dropout_of_the_feedforward_lstm_is_for_training_only(key: str) -> None:
    encoder = make("feedforward_lstm", **{key: 0.5})
    plain = make("feedforward_lstm")
    inputs = torch.randn(5, 5, 4)
    assert not torch.allclose(encoder(inputs, MASK), plain(inputs, MASK))
    assert torch.equal(encoder.eval()(inputs, MASK), plain.eval()(inputs, MASK))


Direction = Callable[[Tensor, int], Tensor]


def both_directions(inputs: Tensor, direction: Direction) -> Tensor:
    """
    Outputs [B, T, 2H] of a loop over a sentence [T, D], which is reversed for direction
    1.
    """
    rows = []
    for row, length in enumerate(LENGTHS):
        if length == 0:
            rows.append(torch.zeros(0, 1))
            continue
        words = inputs[row, :length]
        forward = direction(words, 0)
        rows.append(torch.cat([forward, direction(words.flip(0), 1).flip(0)], 1))
    width = rows[0].shape[1]
    padded = []
    for outputs in rows:
        padding = torch.zeros(5 - len(outputs), width)
        padded.append(torch.cat([outputs.expand(-1, width), padding]))
    return torch.stack(padded)


def check_equal(encoder: Seq2SeqEncoder, direction: Direction) -> None:
    """Outputs and gradients of an encoder against a loop."""
    inputs = torch.randn(5, 5, 4)
    weights = torch.randn(5, 5, encoder.get_output_dim())
    outputs = encoder(inputs, MASK)
    expected = both_directions(inputs, direction)
    assert torch.allclose(outputs, expected, atol=1e-6)
    parameters = list(encoder.parameters())
    found = torch.autograd.grad((outputs * weights).sum(), parameters)
    wanted = torch.autograd.grad((expected * weights).sum(), parameters)
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.any() and torch.allclose(ours, theirs, atol=1e-5)


def test_coupled_lstm_equals_its_equations() -> None:
    lstm = make("coupled_lstm").eval()
    assert isinstance(lstm, CoupledLstm)

    def direction(words: Tensor, side: int) -> Tensor:
        cell = lstm.first_cell[side, 0]
        hidden = lstm.first_hidden[side, 0]
        outputs = []
        for word in words:
            received = torch.cat([word, hidden])
            i, j, o = (received @ lstm.kernel[side] + lstm.bias[side]).chunk(3)
            cell = (1 - i.sigmoid()) * cell + i.sigmoid() * j.tanh()
            hidden = o.sigmoid() * cell.tanh()
            outputs.append(hidden)
        return torch.stack(outputs)

    check_equal(lstm, direction)


def test_gru_equals_torchs() -> None:
    gru = make("gru")
    inputs = torch.randn(5, 5, 4)
    assert isinstance(gru, Gru)
    theirs = nn.GRU(4, 4, batch_first=True, bidirectional=True)
    state = gru.onward.state_dict()
    for name, value in gru.backward.state_dict().items():
        state[f"{name}_reverse"] = value
    theirs.load_state_dict(state)
    expected, _ = theirs(inputs)
    assert torch.allclose(gru(inputs, torch.ones(5, 5).bool()), expected, atol=1e-6)
    gru(inputs.masked_fill(~MASK[:, :, None], torch.nan), MASK).sum().backward()
    for parameter in gru.parameters():
        assert parameter.grad is not None
        assert parameter.grad.isfinite().all()


@pytest.mark.parametrize("lengths", [[5, 4, 5, 3], [9, 1, 2, 1], [1, 0, 4, 4]])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_stacked_lstm_equals_torchs_on_each_sentence(
    lengths: list[int], dtype: torch.dtype
) -> None:
    """Most places are words, or most are padding."""
    stack = make("stacked_lstm").to(dtype)
    theirs = make("stacked_lstm").to(dtype)
    assert isinstance(theirs, StackedLstm)
    words = [torch.randn(length, 4, dtype=dtype) for length in lengths]
    mask = torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]
    inputs = nn.utils.rnn.pad_sequence(words, batch_first=True).requires_grad_()
    outputs = stack(inputs, mask)
    outputs.square().sum().backward()
    assert inputs.grad is not None
    for row, sentence in enumerate(words):
        if not len(sentence):
            continue
        alone = sentence[None].requires_grad_()
        hidden = alone
        for layer in theirs.layers:
            hidden, _ = layer(hidden)
        hidden.square().sum().backward()
        assert torch.allclose(outputs[row, : len(sentence)], hidden[0], atol=1e-6)
        assert alone.grad is not None
        found = inputs.grad[row, : len(sentence)]
        assert torch.allclose(found, alone.grad[0], atol=1e-5)
    assert not inputs.grad[~mask].any()
    for ours, expected in zip(stack.parameters(), theirs.parameters(), strict=True):
        assert ours.grad is not None and expected.grad is not None
        assert torch.allclose(ours.grad, expected.grad, atol=1e-5)


def test_stacked_lstms_dropout_is_variational_before_each_layer() -> None:
    stack = make("stacked_lstm", dropout=0.5)
    seen = []
    assert isinstance(stack, StackedLstm)

    def see(module: nn.Module, inputs: tuple[Tensor], output: Tensor) -> None:
        seen.append((inputs[0], output))

    stack.dropout.register_forward_hook(see)
    stack(torch.ones(8, 5, 4), torch.ones(8, 5).bool())
    assert [tuple(after.shape) for _, after in seen] == [(8, 5, 4), (8, 5, 12)]
    for before, after in seen:
        dropped = (after == 0) & (before != 0)
        assert torch.equal(dropped[:, :1].expand_as(dropped), dropped)
        assert 0.2 < dropped.float().mean() < 0.8
        assert not torch.equal(dropped[0], dropped[1])


def test_coupled_lstms_dropout_is_recurrent_and_variational() -> None:
    lstm = make("coupled_lstm", dropout=0.5)
    assert isinstance(lstm, CoupledLstm)
    with torch.no_grad():
        lstm.kernel[:, :4] = 0.0  # only the recurrence is left
    torch.manual_seed(1)
    outputs = lstm(torch.zeros(400, 3, 4), torch.ones(400, 3).bool()).detach()
    outputs = outputs[:, :, :3]  # forward
    kinds = {tuple(row.flatten().mul(1e5).round().tolist()) for row in outputs}
    assert len(kinds) == 2**3, (
        "a mask of 3 units for each sentence, constant over its words"
    )


def test_orthonormal_inputs_of_the_coupled_lstm() -> None:
    """All other initial values are those of the paper's models."""
    for direction in CoupledLstm(input_size=40, hidden_size=30).kernel:
        for gate in direction.chunk(3, 1):
            torch.testing.assert_close(gate.T @ gate, torch.eye(30))


def test_character_cnn_equals_loops() -> None:
    cnn = CharacterCnn(embedding_dim=2, num_filters=3, width=3)
    weight = cnn.convolution.weight
    bias = cnn.convolution.bias
    assert (cnn.get_input_dim(), cnn.get_output_dim()) == (2, 3)
    assert bias is not None
    bias.data = torch.tensor([0.1, -0.2, 0.3])
    tokens = torch.randn(4, 5, 2)
    lengths = [5, 2, 1, 0]  # words may be shorter than the filters
    mask = torch.arange(5)[None] < torch.tensor(lengths)[:, None]
    tokens[~mask] = torch.nan
    vectors = cnn(tokens, mask)
    for row, length in enumerate(lengths):
        padded = torch.cat([tokens[row, :length], torch.zeros(2, 2)])
        features = [torch.zeros(3)]
        for start in range(length):
            features.append((weight * padded[start : start + 3].T).sum((1, 2)) + bias)
        torch.testing.assert_close(vectors[row], torch.stack(features).amax(0))


def test_words_of_any_length_have_character_features() -> None:
    """At the paper's widths, whatever the longest word of the batch."""
    cnns = CharacterCnns(embedding_dim=8, num_filters=50, widths=[3, 4, 5]).eval()
    assert (cnns.get_input_dim(), cnns.get_output_dim()) == (8, 150)
    characters = torch.randn(6, 8)
    for length in range(1, 7):
        found = []
        for longest in (length, 6, 30):
            tokens = torch.zeros(1, longest, 8)
            tokens[0, :length] = characters[:length]
            mask = torch.arange(longest)[None] < length
            (vector,) = cnns(tokens, mask)
            found.append(vector)
            for part in vector.split(50):
                assert part.any()
            alone = [part(tokens, mask)[0] for part in cnns.parts]
            assert torch.equal(vector, torch.cat(alone))
        torch.testing.assert_close(found[1:], found[:1] * 2)
