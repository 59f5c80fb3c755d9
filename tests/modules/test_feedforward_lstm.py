"""The feed-forward layer before LSTM layers: the two in order, padding, widths, what AllenNLP's `compose` cannot do."""

from typing import Any

import pytest
import torch
from allennlp.common import Lazy, Params
from allennlp.modules import FeedForward
from allennlp.modules.seq2seq_encoders import ComposeEncoder, FeedForwardEncoder, Seq2SeqEncoder

from elmo_tasks.modules.feedforward_lstm import FeedForwardLstm
from elmo_tasks.modules.initialization import glorot
from elmo_tasks.modules.input_encoder import construct
from elmo_tasks.modules.stacked_lstm import StackedLstm

MASK = torch.tensor([[True, True, True, True], [True, True, False, False]])


def encoder(**keys: Any) -> FeedForwardLstm:
    torch.manual_seed(3)
    return FeedForwardLstm(input_size=6, feedforward_size=5, hidden_sizes=[4, 3], **keys)


def test_a_relu_layer_and_then_the_lstm() -> None:
    parts, inputs = encoder(), torch.randn(2, 4, 6)
    weight, bias = parts.feedforward.weight, parts.feedforward.bias
    hidden = (torch.einsum("btd,hd->bth", inputs, weight) + bias).clamp(min=0)
    assert (hidden == 0).any()
    assert torch.allclose(parts(inputs, MASK), parts.lstm(hidden, MASK), atol=1e-6)


def test_padding_counts_for_nothing_and_stays_zero() -> None:
    parts, inputs = encoder(), torch.randn(2, 4, 6)
    together = parts(inputs.masked_fill(~MASK[:, :, None], 9.0), MASK)
    alone = parts(inputs[1:, :2], MASK[1:, :2])
    assert torch.allclose(together[1:, :2], alone, atol=1e-6)
    assert not together[1, 2:].any()


def test_starting_values() -> None:
    layer = glorot(torch.nn.Linear(400, 200))
    assert layer.weight.std().item() == pytest.approx((2 / 600) ** 0.5, rel=0.02)
    assert not layer.bias.any() and not encoder().feedforward.bias.any()


def test_widths_come_from_the_registered_name() -> None:
    params = Params({"type": "elmo_tasks_feedforward_lstm", "feedforward_size": 5, "hidden_sizes": [4, 3]})
    built = construct(Lazy(Seq2SeqEncoder, params), width=11)
    assert isinstance(built, FeedForwardLstm)
    assert (built.get_input_dim(), built.get_output_dim(), built.is_bidirectional()) == (11, 6, True)
    assert built.lstm.get_input_dim() == 5


def test_dropout_at_both_places_in_training_alone() -> None:
    inputs = torch.randn(2, 4, 6)
    for keys in ({"feedforward_dropout": 0.5}, {"dropout": 0.5}):
        parts = encoder(**keys)
        assert not torch.allclose(parts(inputs, MASK), encoder()(inputs, MASK))
        assert torch.equal(parts.eval()(inputs, MASK), encoder()(inputs, MASK))


def test_why_compose_will_not_do() -> None:
    feedforward = FeedForwardEncoder(FeedForward(6, 1, 5, torch.nn.ReLU()))
    with pytest.raises(ValueError, match="match in bidirectionality"):
        ComposeEncoder([feedforward, StackedLstm(input_size=5, hidden_sizes=[4])])
