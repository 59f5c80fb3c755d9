"""Products by oneDNN are torch's own, and so are their gradients."""

import copy
import pickle

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.nn.linear import FEWEST, Linear, linear, summed_products

SHAPES = {
    "rows": ((500, 200), 100),
    "a batch": ((4, 125, 200), 100),
    "one row": ((1, 4000), 2500),
    "a row of a result": ((4000, 2500), 1),
    "few": ((5, 200), 100),
    "none": ((0, 200), 100),
    "batch of none": ((3, 0, 200), 100),
    "a vector": ((200,), 100),
}
"""Of the inputs, and the width of the outputs."""


def results(
    function: object, inputs: Tensor, weight: Tensor, bias: Tensor | None
) -> list[Tensor]:
    """Outputs and gradients."""
    made = [inputs, weight] if bias is None else [inputs, weight, bias]
    made = [tensor.detach().requires_grad_() for tensor in made]
    outputs = function(*made)  # type: ignore[operator]
    outputs.sin().sum().backward()
    return [outputs.detach(), *[tensor.grad for tensor in made]]  # type: ignore[list-item]


@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize(("shape", "width"), SHAPES.values(), ids=SHAPES)
def test_outputs_and_gradients(
    shape: tuple[int, ...], width: int, transposed: bool, has_bias: bool
) -> None:
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(shape, generator=generator)
    weight = torch.randn(width, shape[-1], generator=generator) / shape[-1] ** 0.5
    if transposed:
        inputs = inputs.transpose(0, -1).contiguous().transpose(0, -1)
        weight = weight.t().contiguous().t()
    bias = torch.randn(width, generator=generator) if has_bias else None
    assert_as_exact(inputs, weight, bias)


def assert_as_exact(inputs: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    """`linear` differs from the result in float64 about as little as torch's own."""
    exact = [inputs.double(), weight.double(), None if bias is None else bias.double()]
    expected = results(functional.linear, *exact)  # type: ignore[arg-type]
    found = results(linear, inputs, weight, bias)
    torchs = results(functional.linear, inputs, weight, bias)
    for one, other, right in zip(found, torchs, expected, strict=True):
        assert one.shape == right.shape
        if right.numel():
            error = (one - right).abs().max()
            assert error < 5 * (other - right).abs().max() + 1e-6


def test_parts_of_wider_matrices() -> None:
    inputs = torch.randn(600, 500)[:, 100:300]
    assert_as_exact(inputs, (torch.randn(100, 500) / 15)[:, 200:400], None)


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


def test_no_gradient_of_what_is_frozen() -> None:
    inputs = torch.ones(500, 200)
    weight = torch.ones(100, 200).requires_grad_()
    linear(inputs, weight).sum().backward()
    assert inputs.grad is None and weight.grad is not None
    assert torch.equal(weight.grad, torch.full((100, 200), 500.0))


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


LARGE = FEWEST // 20_000
"""Rows of a product of 200 x 100 that oneDNN computes."""


@pytest.mark.parametrize("rows", [5, LARGE])
def test_second_derivatives(rows: int) -> None:
    """As of a penalty on the gradient, whose incoming gradient has no gradient itself."""
    generator = torch.Generator().manual_seed(2)
    inputs = torch.randn(rows, 200, generator=generator).double()
    first = torch.randn(200, 200, generator=generator).double() / 200**0.5
    last = torch.randn(100, 200, generator=generator).double() / 200**0.5
    found = []
    for dtype, function in (
        (torch.float64, functional.linear),
        (torch.float32, linear),
    ):
        made = [
            one.detach().to(dtype).requires_grad_() for one in (inputs, first, last)
        ]
        outputs = function(torch.tanh(functional.linear(made[0], made[1])), made[2])
        (gradient,) = torch.autograd.grad(outputs.sum(), made[0], create_graph=True)
        gradient.pow(2).sum().backward()
        found.append([one.grad for one in made])
    for exact, one in zip(*found, strict=True):
        assert one is not None and exact is not None
        torch.testing.assert_close(one.double(), exact, atol=2e-4, rtol=2e-4)


@pytest.mark.parametrize("rows", [5, LARGE])
def test_a_bias_that_is_part_of_a_matrix(rows: int) -> None:
    inputs = torch.randn(rows, 200)
    weight = torch.randn(100, 200)
    for bias in (torch.randn(100, 2)[:, 0], torch.ones(1).expand(100)):
        expected = functional.linear(inputs, weight, bias.contiguous())
        found = linear(inputs, weight, bias)
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("rows", [5, LARGE])
@pytest.mark.parametrize(
    ("weight", "bias"),
    [
        (torch.ones(100, 150), None),
        (torch.ones(2, 100, 200), None),
        (torch.ones(100, 200), torch.ones(99)),
        (torch.ones(200), None),
        (torch.ones(100, 200), torch.ones(1, 100)),
    ],
)
def test_shapes_that_do_not_fit(rows: int, weight: Tensor, bias: Tensor | None) -> None:
    """The result or the error of torch, whatever the size."""
    inputs = torch.ones(rows, 200)
    try:
        expected = functional.linear(inputs, weight, bias)
    except RuntimeError as error:
        with pytest.raises(RuntimeError) as found:
            linear(inputs, weight, bias)
        assert str(found.value) == str(error)
    else:
        torch.testing.assert_close(linear(inputs, weight, bias), expected)


def test_a_device_without_autocast() -> None:
    made = Linear(4, 3, device="meta")
    assert made(torch.empty(2, 4, device="meta")).shape == (2, 3)
