"""
The scan over packed steps against a loop over rows, outputs and gradients, and what a
stack adds to it.
"""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from elmo_tasks.bilm.lstm import FORGET_BIAS, LstmStack, ProjectedLstm
from tests.elmo.samples import options

BATCH_SIZES = [4, 4, 2, 1, 1]


def random_lstm(cell_clip: float | None, proj_clip: float | None) -> ProjectedLstm:
    lstm = ProjectedLstm(
        options(dim=7, projection_dim=4, cell_clip=cell_clip, proj_clip=proj_clip)
    )
    for parameter in lstm.parameters():
        parameter.data = torch.randn_like(parameter) * 0.6
    return lstm.double()


def random_inputs() -> list[Tensor]:
    """Packed inputs, cells and outputs to start from."""
    inputs = torch.randn(sum(BATCH_SIZES), 4, dtype=torch.float64)
    cells = torch.randn(4, 7, dtype=torch.float64) * 0.1
    hiddens = torch.randn(4, 4, dtype=torch.float64) * 0.1
    return [values.requires_grad_() for values in (inputs, cells, hiddens)]


def bounded(values: Tensor, bound: float | None) -> Tensor:
    if bound is None:
        return values
    return values.clamp(-bound, bound)


def by_rows(
    lstm: ProjectedLstm, inputs: Tensor, cells: Tensor, hiddens: Tensor
) -> list[Tensor]:
    """
    What the scan gives, one row and one step at a time, for autograd to differentiate.
    """
    cell = list(cells)
    hidden = list(hiddens)
    bias = lstm.bias + torch.cat(
        [torch.zeros(14), torch.full((7,), FORGET_BIAS), torch.zeros(7)]
    )
    outputs = []
    rest = list(inputs)
    for rows in BATCH_SIZES:
        for row in range(rows):
            of_input = lstm.input_weight @ rest.pop(0)
            i, o, f, j = (of_input + (lstm.hidden_weight @ hidden[row]) + bias).chunk(4)
            new_cell = f.sigmoid() * cell[row] + i.sigmoid() * j.tanh()
            cell[row] = bounded(new_cell, lstm.cell_clip)
            new_hidden = lstm.projection @ (o.sigmoid() * cell[row].tanh())
            hidden[row] = bounded(new_hidden, lstm.proj_clip)
            outputs.append(hidden[row])
    return [torch.stack(outputs), torch.stack(cell), torch.stack(hidden)]


def by_scan(
    lstm: ProjectedLstm, inputs: Tensor, cells: Tensor, hiddens: Tensor
) -> list[Tensor]:
    outputs, (cell, hidden) = lstm(inputs, BATCH_SIZES, (cells, hiddens))
    return [outputs, cell, hidden]


def results_and_gradients(
    run: Callable[..., list[Tensor]], lstm: ProjectedLstm, inputs: list[Tensor]
) -> tuple[list[Tensor], tuple[Tensor, ...]]:
    results = run(lstm, *inputs)
    loss = torch.zeros(())
    for result in results:
        weights = torch.linspace(-1, 1, result.numel()).view_as(result)
        loss = loss + (weights * result).sum()
    return results, torch.autograd.grad(loss, inputs + list(lstm.parameters()))


@pytest.mark.parametrize("clips", [(None, None), (0.3, 0.2), (0.3, None), (None, 0.2)])
def test_results_and_gradients_equal_a_loop_over_rows(
    clips: tuple[float | None, float | None],
) -> None:
    lstm = random_lstm(*clips)
    inputs = random_inputs()
    results, gradients = results_and_gradients(by_scan, lstm, inputs)
    expected, expected_gradients = results_and_gradients(by_rows, lstm, inputs)
    assert len(gradients) == 7
    all_ours = results + list(gradients)
    all_theirs = expected + list(expected_gradients)
    for ours, theirs in zip(all_ours, all_theirs, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-12, rtol=1e-12)
        assert ours.abs().max() > 0
    for values, bound in zip(results[1:], clips, strict=True):
        assert bound is None or (values.abs() == bound).any()


def test_a_layer_adds_its_dropped_input_to_its_output() -> None:
    """Layers without weights give zero, so that only what is added is seen."""
    stack = LstmStack(options(n_layers=2))
    for parameter in stack.parameters():
        parameter.data.zero_()
    stack.layers[0].projection.data.fill_(1.0)
    stack.layers[0].bias.data.fill_(1.0)
    states = stack.initial_states(3)
    (first, second), finals = stack(torch.randn(3, 6), [3], states, dropout=0.5)
    ratio = second / first
    assert set(ratio.flatten().tolist()) == {0.0, 2.0}
    assert finals[1][1].eq(0).all()
    (first, second), _ = stack(torch.randn(3, 6), [3], states)
    assert torch.equal(first, second)
    stack.use_skip_connections = False
    (first, second), _ = stack(torch.randn(3, 6), [3], states)
    assert first.all() and not second.any()


def test_there_is_no_second_derivative() -> None:
    """Also after a sum, where the gradient that comes in has no gradient."""
    lstm = random_lstm(None, None)
    inputs, cells, hiddens = random_inputs()
    outputs, _ = lstm(inputs, BATCH_SIZES, (cells, hiddens))
    with pytest.raises(RuntimeError, match="ScanSteps.backward has no second deriv"):
        torch.autograd.grad(outputs.sum(), lstm.bias, create_graph=True)
