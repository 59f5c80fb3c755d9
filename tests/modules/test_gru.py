"""The bidirectional GRU: against loops, padding, starting values."""

import pytest
import torch
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import Tensor, nn

from elmo_tasks.errors import InputError
from elmo_tasks.modules.gru import Gru


def wide(gru: Gru) -> Gru:
    """The same with parameters that all matter."""
    for parameter in gru.parameters():
        parameter.data.normal_(std=0.7)
    return gru


def one_direction(layer: nn.GRU, row: Tensor) -> Tensor:
    """Cho et al. 2014 in cuDNN's form, where the reset gate multiplies the recurrent product: [T, D] -> [T, H]."""
    w, u, b, c = (getattr(layer, f"{name}_l0") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    h, outputs = torch.zeros(u.shape[1]), []
    for x in row:
        read, carried = (w @ x + b).chunk(3), (u @ h + c).chunk(3)
        reset, update = (read[0] + carried[0]).sigmoid(), (read[1] + carried[1]).sigmoid()
        h = (1 - update) * (read[2] + reset * carried[2]).tanh() + update * h
        outputs.append(h)
    return torch.stack(outputs)


def test_equals_loops_and_padding_changes_nothing() -> None:
    gru = wide(Gru(input_size=3, hidden_size=4))
    lengths = [5, 1, 3]
    inputs, mask = torch.randn(3, 5, 3), torch.arange(5)[None] < torch.tensor(lengths)[:, None]
    inputs[~mask] = torch.nan
    outputs = gru(inputs, mask)
    assert outputs.shape == (3, 5, gru.get_output_dim()) == (3, 5, 8)
    for row, length in enumerate(lengths):
        onward = one_direction(gru.onward, inputs[row, :length])
        backward = one_direction(gru.backward, inputs[row, :length].flip(0)).flip(0)
        torch.testing.assert_close(outputs[row, :length], torch.cat([onward, backward], -1))
        assert not outputs[row, length:].any()
    outputs.sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() and p.grad.any() for p in gru.parameters())


def test_an_empty_row_gives_zeros() -> None:
    gru = wide(Gru(input_size=2, hidden_size=2))
    mask = torch.tensor([[True, True], [False, False]])
    outputs = gru(torch.randn(2, 2, 2), mask)
    assert outputs[0].any() and not outputs[1].any()


def test_starting_values() -> None:
    gru = Gru(input_size=200, hidden_size=90)
    weights = torch.cat([p.flatten() for name, p in gru.named_parameters() if "weight" in name])
    assert weights.abs().max() <= 0.1
    assert 0.042 < weights.std() < 0.046, "a normal distribution of 0.05, cut at 0.1, has 0.044"
    assert not any(p.any() for name, p in gru.named_parameters() if "bias" in name)


def test_registered_with_its_widths() -> None:
    gru = Seq2SeqEncoder.by_name("elmo_tasks_gru")(input_size=3, hidden_size=4)
    assert (gru.get_input_dim(), gru.get_output_dim(), gru.is_bidirectional()) == (3, 8, True)


def test_no_units() -> None:
    with pytest.raises(InputError, match="hidden_size must be a whole number of at least 1, found 0"):
        Gru(input_size=3, hidden_size=0)
