"""
What training on SQuAD keeps for its gradient: no vector of a passage twice, and not the
four vectors of an attended word side by side.
"""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from elmo_tasks.tasks.squad.layers import MergeAttended

ROWS, STEPS, WIDTH, SIZE = 3, 50, 40, 6
FLOATS = ROWS * STEPS
"""In one number for each word."""


def vectors(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def kept(compute: Callable[[], Tensor], *known: Tensor) -> int:
    """
    The numbers that `compute` keeps for its gradient, but for those in `known` tensors.
    """
    sizes: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes() // tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        result = compute()
    assert result.requires_grad
    for tensor in known:
        sizes.pop(tensor.untyped_storage().data_ptr(), None)
    return sum(sizes.values())


@pytest.fixture
def merge() -> MergeAttended:
    return MergeAttended(width=WIDTH, size=SIZE).double()


def test_merging_equals_one_product_of_four_vectors(merge: MergeAttended) -> None:
    passage = vectors(ROWS, STEPS, WIDTH)
    attended = vectors(ROWS, STEPS, WIDTH)
    summary = vectors(ROWS, WIDTH)
    torch.nn.init.normal_(merge[0].bias)
    together = [passage, attended, passage * attended, passage * summary[:, None]]
    expected = (torch.cat(together, 2) @ merge[0].weight.t() + merge[0].bias).relu()
    found = merge(passage, attended, summary)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    inputs = [passage, attended, summary, *merge.parameters()]
    weights = torch.randn_like(expected)
    gradients = torch.autograd.grad((found * weights).sum(), inputs)
    for gradient, other in zip(
        gradients, torch.autograd.grad((expected * weights).sum(), inputs), strict=True
    ):
        torch.testing.assert_close(gradient, other, rtol=0, atol=1e-10)


def test_merging_keeps_its_inputs_and_its_output_alone(merge: MergeAttended) -> None:
    passage = vectors(ROWS, STEPS, WIDTH)
    attended = vectors(ROWS, STEPS, WIDTH)
    summary = vectors(ROWS, WIDTH)
    known = (passage, attended, summary, *merge.parameters())
    found = kept(lambda: merge(passage, attended, summary), *known)
    assert found <= SIZE * FLOATS + ROWS * SIZE * WIDTH
