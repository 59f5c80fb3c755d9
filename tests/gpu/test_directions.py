"""
On a GPU the biLM's two directions are computed together: with the results and gradients
of each by itself.
"""

import pytest
import torch
from torch import Tensor

from elmo_tasks.bilm.lstm import LstmStack, State, run_stacks
from tests.elmo.samples import options

BATCH_SIZES = [4, 4, 2, 1, 1]
LAYERS = 2


def stacks() -> list[LstmStack]:
    torch.manual_seed(5)
    settings = options(
        n_layers=LAYERS, dim=7, projection_dim=4, cell_clip=0.3, proj_clip=0.2
    )
    made = []
    for _ in range(2):
        stack = LstmStack(settings)
        for parameter in stack.parameters():
            parameter.data = torch.randn_like(parameter) * 0.6
        made.append(stack.double())
    return made


def random_states(device: torch.device) -> list[list[State]]:
    torch.manual_seed(6)
    states = []
    for _ in range(2):
        of_stack = []
        for _ in range(LAYERS):
            cell = 0.1 * torch.randn(4, 7, dtype=torch.float64)
            hidden = 0.1 * torch.randn(4, 4, dtype=torch.float64)
            of_stack.append((cell.to(device), hidden.to(device)))
        states.append(of_stack)
    return states


def results(device: torch.device, *, grad: bool) -> list[Tensor]:
    """Outputs and last states of both stacks, and the gradients of their weights."""
    torch.manual_seed(7)
    both = [stack.to(device) for stack in stacks()]
    inputs = []
    for _ in range(2):
        inputs.append(torch.randn(sum(BATCH_SIZES), 4, dtype=torch.float64).to(device))
    found: list[Tensor] = []
    with torch.set_grad_enabled(grad):
        for outputs, finals in run_stacks(
            both, inputs, BATCH_SIZES, random_states(device)
        ):
            found += outputs
            for final in finals:
                found += final
    if grad:
        loss = torch.zeros((), dtype=torch.float64, device=device)
        for number, result in enumerate(found):
            loss = loss + (number + 1) * (result * result).sum()
        loss.backward()
        for stack in both:
            found += [parameter.grad for parameter in stack.parameters()]
    return [one.detach().cpu() for one in found]


@pytest.mark.parametrize("grad", [False, True])
def test_results_are_those_of_each_direction(grad: bool, gpu: torch.device) -> None:
    expected = results(torch.device("cpu"), grad=grad)
    found = results(gpu, grad=grad)
    assert len(found) == len(expected) == 2 * LAYERS * (7 if grad else 3)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-12, rtol=1e-12)
        assert ours.abs().max() > 0


def test_dropout_zeroes_each_layers_input(gpu: torch.device) -> None:
    """
    Layers without weights give zero: what the second one adds to its output is its
    input, the first one's output, after dropout.
    """
    both = []
    for _ in range(2):
        stack = LstmStack(options(n_layers=LAYERS))
        for parameter in stack.parameters():
            parameter.data.zero_()
        stack.layers[0].projection.data.fill_(1.0)
        stack.layers[0].bias.data.fill_(1.0)
        both.append(stack.to(gpu))
    width = both[0].layers[0].projection_dim
    inputs = [torch.ones(100, width).to(gpu) for _ in both]
    states = [stack.initial_states(100) for stack in both]
    dropped = []
    for (first, second), _ in run_stacks(both, inputs, [100], states, dropout=0.25):
        ratio = (second / first).cpu()
        kept = ratio > 0
        assert ratio[kept].tolist() == pytest.approx([1 / 0.75] * int(kept.sum()))
        assert 0.65 < kept.float().mean() < 0.85
        dropped.append(ratio)
    assert not torch.equal(*dropped)
