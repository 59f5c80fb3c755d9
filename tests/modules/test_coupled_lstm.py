"""The coupled LSTM against a loop over sentences and words, its starting values, and its dropout."""

import pytest
import torch
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import Tensor

from elmo_tasks.errors import InputError
from elmo_tasks.modules.coupled_lstm import CoupledLstm, glorot_uniform_

LENGTHS = [3, 0, 5, 1, 5]


def make(dropout: float = 0.0) -> CoupledLstm:
    torch.manual_seed(2)
    return CoupledLstm(input_size=4, hidden_size=3, dropout=dropout)


def batch() -> tuple[Tensor, Tensor]:
    mask = torch.arange(6) < torch.tensor(LENGTHS)[:, None]
    return torch.randn(5, 6, 4), mask


def one_direction(lstm: CoupledLstm, words: Tensor, direction: int) -> list[Tensor]:
    """The equations, word by word: inputs [T, D] in the order in which they are read."""
    cell, hidden = lstm.first_cell[direction, 0], lstm.first_hidden[direction, 0]
    outputs = []
    for word in words:
        i, j, o = (torch.cat([word, hidden]) @ lstm.kernel[direction] + lstm.bias[direction]).chunk(3)
        cell = (1 - i.sigmoid()) * cell + i.sigmoid() * j.tanh()
        hidden = o.sigmoid() * cell.tanh()
        outputs.append(hidden)
    return outputs


def by_loop(lstm: CoupledLstm, inputs: Tensor) -> Tensor:
    expected = torch.zeros(5, 6, 6)
    for row, length in enumerate(LENGTHS):
        ahead = one_direction(lstm, inputs[row, :length], 0)
        behind = one_direction(lstm, inputs[row, :length].flip(0), 1)[::-1]
        for word in range(length):
            expected[row, word] = torch.cat([ahead[word], behind[word]])
    return expected


def test_equals_the_equations_by_loop() -> None:
    lstm, (inputs, mask) = make().eval(), batch()
    assert torch.allclose(lstm(inputs, mask), by_loop(lstm, inputs), atol=1e-6)


def test_gradients_equal_those_of_the_loop() -> None:
    lstm, (inputs, mask) = make().eval(), batch()
    weights, found = torch.randn(5, 6, 6), []
    for output in (lstm(inputs, mask), by_loop(lstm, inputs)):
        lstm.zero_grad()
        (output * weights).sum().backward()
        found.append({name: p.grad.clone() for name, p in lstm.named_parameters() if p.grad is not None})
    assert set(found[0]) == {"kernel", "bias", "first_cell", "first_hidden"}
    for name, gradient in found[0].items():
        assert gradient.any() and torch.allclose(gradient, found[1][name], atol=1e-5), name


def test_padding_and_neighbours_change_nothing() -> None:
    lstm, (inputs, mask) = make().eval(), batch()
    before = lstm(inputs, mask)
    inputs[~mask] = 99.0
    assert torch.equal(lstm(inputs, mask), before)
    alone = lstm(inputs[2:3, :5], mask[2:3, :5])
    assert torch.allclose(alone[0], before[2, :5], atol=1e-6)
    assert not lstm(inputs[1:2], mask[1:2]).any()


def test_starting_values() -> None:
    lstm = CoupledLstm(input_size=40, hidden_size=30)
    for direction in lstm.kernel:
        for gate in direction.chunk(3, 1):
            assert torch.allclose(gate.t() @ gate, torch.eye(30), atol=1e-5)
    assert 0.6 * (6 / 180) ** 0.5 < lstm.bias.abs().max() <= (6 / 180) ** 0.5
    assert 0.6 * (6 / 31) ** 0.5 < lstm.first_hidden.abs().max() <= (6 / 31) ** 0.5
    assert not torch.equal(lstm.first_cell[0], lstm.first_cell[1])
    assert (6 / 104) ** 0.5 * 0.9 < glorot_uniform_(torch.empty(100, 4)).abs().max() <= (6 / 104) ** 0.5


def test_dropout_is_recurrent_and_the_same_at_all_words() -> None:
    lstm = make(dropout=0.5).train()
    with torch.no_grad():
        lstm.kernel[:, :4] = 0.0  # only the recurrence is left
    inputs, mask = torch.zeros(400, 3, 4), torch.ones(400, 3, dtype=torch.bool)
    torch.manual_seed(1)
    outputs = lstm(inputs, mask)[:, :, :3].detach()  # forward
    kinds = {tuple(row.flatten().mul(1e5).round().tolist()) for row in outputs}
    assert len(kinds) == 2**3, "a mask of 3 units for each sentence, whatever the number of words"
    assert torch.equal(lstm.eval()(inputs, mask)[0], lstm(inputs, mask)[1])


def test_what_others_ask_it() -> None:
    lstm = Seq2SeqEncoder.by_name("elmo_tasks_coupled_lstm")(input_size=4, hidden_size=3)
    assert (lstm.get_input_dim(), lstm.get_output_dim(), lstm.is_bidirectional()) == (4, 6, True)


def test_bad_values() -> None:
    with pytest.raises(InputError, match="hidden_size must be a whole number of at least 1, found 0"):
        CoupledLstm(input_size=4, hidden_size=0)
    with pytest.raises(InputError, match="dropout must be at least 0 and below 1, found 1.0"):
        CoupledLstm(input_size=4, hidden_size=3, dropout=1.0)
