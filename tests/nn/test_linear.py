"""Products by oneDNN are torch's own, and so are their gradients."""

import copy
import pickle
import time

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.nn import linear as module
from elmo_tasks.nn.linear import FEWEST, Linear, linear, summed_products

SHAPES = {
    "rows": (500, 200),
    "a batch": (4, 125, 200),
    "one row": (1, 200),
    "none": (0, 200),
    "batch of none": (3, 0, 200),
    "a vector": (200,),
}


@pytest.fixture
def all_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """oneDNN computes small products, too."""
    monkeypatch.setattr(module, "FEWEST", 1)


def results(
    function: object, inputs: Tensor, weight: Tensor, bias: Tensor | None
) -> list[Tensor]:
    """Outputs and gradients."""
    made = [inputs, weight] if bias is None else [inputs, weight, bias]
    made = [tensor.detach().requires_grad_() for tensor in made]
    outputs = function(*made)  # type: ignore[operator]
    outputs.sin().sum().backward()
    grads = [tensor.grad for tensor in made]
    return [outputs.detach(), *grads]  # type: ignore[list-item]


@pytest.mark.usefixtures("all_sizes")
@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_outputs_and_gradients(
    shape: tuple[int, ...], transposed: bool, has_bias: bool
) -> None:
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(shape, generator=generator)
    weight = torch.randn(60, 200, generator=generator) / 15
    if transposed:
        inputs = inputs.transpose(0, -1).contiguous().transpose(0, -1)
        weight = weight.t().contiguous().t()
    bias = torch.randn(60, generator=generator) if has_bias else None
    found = results(linear, inputs, weight, bias)
    exact = [inputs.double(), weight.double(), None if bias is None else bias.double()]
    expected = results(functional.linear, *exact)  # type: ignore[arg-type]
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        assert torch.allclose(one.double(), other, rtol=1e-5, atol=2e-5)


@pytest.mark.usefixtures("all_sizes")
def test_parts_of_wider_matrices() -> None:
    wide = torch.randn(400, 500)
    inputs = wide[:, 100:300]
    weight = (torch.randn(60, 500) / 15)[:, 200:400]
    found = results(linear, inputs, weight, None)
    expected = results(functional.linear, inputs.double(), weight.double(), None)
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one.double(), other, rtol=1e-5, atol=2e-5)


def test_parts_take_about_as_long_as_whole_matrices() -> None:
    wide = torch.randn(500, 3000)
    inputs = torch.randn(1000, 200)

    def seconds(weight: Tensor) -> float:
        linear(inputs, weight)
        started = time.process_time()
        linear(inputs, weight)
        return time.process_time() - started

    whole = min(seconds(wide[:, :200].contiguous()) for _ in range(5))
    part = min(seconds(wide[:, :200]) for _ in range(5))
    assert part < 10 * whole


def uses_onednn(inputs: Tensor, weight: Tensor) -> bool:
    outputs = linear(inputs, weight.requires_grad_())
    return "_LinearBackward" in str(outputs.grad_fn.next_functions)


def test_large_products_in_float32_are_those_of_onednn() -> None:
    weight = torch.ones(100, 1000)
    rows = FEWEST // weight.numel()
    assert uses_onednn(torch.ones(rows, 1000), weight)
    assert not uses_onednn(torch.ones(rows - 1, 1000), weight)
    assert not uses_onednn(torch.ones(rows, 1000).double(), weight.detach().double())
    with torch.autocast("cpu", torch.bfloat16):
        assert not uses_onednn(torch.ones(rows, 1000), weight.detach())


@pytest.mark.usefixtures("all_sizes")
def test_no_gradient_of_what_is_frozen() -> None:
    inputs = torch.ones(3, 4)
    weight = torch.ones(2, 4).requires_grad_()
    linear(inputs, weight).sum().backward()
    assert inputs.grad is None and weight.grad is not None
    assert torch.equal(weight.grad, torch.full((2, 4), 3.0))


@pytest.mark.parametrize("rows", [7, 400])
def test_summed_products(rows: int) -> None:
    left, right = torch.randn(rows, 150), torch.randn(rows, 200)
    expected = torch.einsum("nm,nk->mk", left.double(), right.double())
    found = summed_products(left, right)
    assert torch.allclose(found.double(), expected, rtol=1e-4, atol=1e-3)


def test_a_layer_has_the_names_and_values_of_torch() -> None:
    torch.manual_seed(1)
    ours = Linear(30, 20)
    torch.manual_seed(1)
    theirs = nn.Linear(30, 20)
    inputs = torch.randn(5, 30)
    for layer in (ours, copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert layer.state_dict().keys() == theirs.state_dict().keys()
        assert torch.equal(layer(inputs), theirs(inputs))
