"""The highway LSTM against a loop over words: values, gradients, dropout, precision."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from allennlp.nn.util import get_dropout_mask
from torch import Tensor

from elmo_tasks.nn.encoders.highway_lstm import HighwayLstm, HighwayLstmLayer

LENGTHS = [3, 6, 1, 5]


def mask_of(lengths: list[int]) -> Tensor:
    return torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]


def encoder(layers: int = 3, **keys: Any) -> HighwayLstm:
    torch.manual_seed(3)
    built = HighwayLstm(input_size=4, hidden_size=5, num_layers=layers, **keys)
    with torch.no_grad():
        for name, parameter in built.named_parameters():
            if name.endswith("bias"):
                parameter.normal_()
    return built


def words() -> Tensor:
    generator = torch.Generator().manual_seed(7)
    return torch.randn(len(LENGTHS), max(LENGTHS), 4, generator=generator)


@pytest.fixture
def float64() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def slow_layer(
    layer: HighwayLstmLayer, inputs: Tensor, kept: Tensor, *, masks_outputs: bool
) -> Tensor:
    """
    One sentence [T, D], one word at a time, as in He et al.'s `HighwayLSTMLayer._step`:
    `h_t` is masked last. In AllenNLP's encoder the mask is on the recurrence alone.
    """
    size = kept.shape[0]
    cell, hidden, outputs = (
        torch.zeros(size),
        torch.zeros(size),
        [torch.zeros(size)] * len(inputs),
    )
    places = range(len(inputs))
    for place in reversed(places) if layer.backward else places:
        from_input = layer.input_weight @ inputs[place] + layer.bias
        from_hidden = layer.hidden_weight @ hidden
        i, f, g, o, t = (from_input[: 5 * size] + from_hidden).split(size)
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
        plain = (
            t.sigmoid() * (o.sigmoid() * cell.tanh())
            + (1 - t.sigmoid()) * from_input[5 * size :]
        )
        hidden = kept * plain
        outputs[place] = hidden if masks_outputs else plain
    return torch.stack(outputs)


def slow(
    stack: HighwayLstm,
    inputs: Tensor,
    lengths: list[int],
    dropout: float,
    masks_outputs: bool,
) -> Tensor:
    """
    The masks [B, H] of the layers are drawn in order, their rows longest sentence
    first.
    """
    outputs = torch.zeros(len(lengths), max(lengths), stack.get_output_dim())
    masks = [get_dropout_mask(dropout, outputs[:, 0]) for _ in stack.layers]
    for place, row in enumerate(
        torch.tensor(lengths).argsort(descending=True).tolist()
    ):
        hidden = inputs[row, : lengths[row]]
        for layer, mask in zip(stack.layers, masks, strict=True):
            assert isinstance(layer, HighwayLstmLayer)
            hidden = slow_layer(layer, hidden, mask[place], masks_outputs=masks_outputs)
        outputs[row, : lengths[row]] = hidden
    return outputs


def gradients(stack: HighwayLstm, outputs: Tensor, inputs: Tensor) -> list[Tensor]:
    weights = torch.linspace(-1, 1, outputs.numel()).view_as(outputs)
    return list(
        torch.autograd.grad((outputs * weights).sum(), [inputs, *stack.parameters()])
    )


@pytest.mark.parametrize(
    ("dropout", "masks_outputs"), [(0.0, True), (0.4, True), (0.4, False)]
)
@pytest.mark.usefixtures("float64")
def test_equals_a_loop_over_words(dropout: float, masks_outputs: bool) -> None:
    stack, inputs = (
        encoder(layers=4, dropout=dropout, dropout_outputs=masks_outputs),
        words().requires_grad_(),
    )
    torch.manual_seed(11)
    fast = stack(inputs, mask_of(LENGTHS))
    torch.manual_seed(11)
    expected = slow(stack, inputs, LENGTHS, dropout, masks_outputs)
    assert torch.allclose(fast, expected, rtol=1e-10, atol=1e-10)
    for ours, theirs in zip(
        gradients(stack, fast, inputs), gradients(stack, expected, inputs), strict=True
    ):
        assert theirs.any()
        assert torch.allclose(ours, theirs, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("how", ["precision", "autocast"])
def test_bfloat16_products_are_close_and_all_else_is_float32(how: str) -> None:
    exact, mask = encoder(), mask_of(LENGTHS)
    stack = encoder(precision="emulated_bfloat16") if how == "precision" else encoder()
    inputs, copy = words().requires_grad_(), words().requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=how == "autocast"):
        outputs = stack(inputs, mask)
    expected = exact(copy, mask)
    assert outputs.dtype == torch.float32
    assert 0 < (outputs - expected).abs().max() < 0.05
    outputs.sum().backward()
    expected.sum().backward()
    for ours, theirs in zip(stack.parameters(), exact.parameters(), strict=True):
        assert (
            ours.grad is not None
            and theirs.grad is not None
            and ours.grad.dtype == torch.float32
        )
        assert (
            torch.nn.functional.cosine_similarity(
                ours.grad.flatten(), theirs.grad.flatten(), dim=0
            )
            > 0.99
        )
