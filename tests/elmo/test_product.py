"""Packed products equal plain ones, are taken for frozen weights alone, and notice when a weight changes."""

import copy
import gc
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.elmo import BiLm, batch_to_ids
from elmo_tasks.elmo import product as product_module
from elmo_tasks.elmo.product import keep_packed, product
from tests.elmo.samples import SENTENCES, random_bilm, write_bilm

needs_packed = pytest.mark.skipif(
    not product_module.has_packed_product(torch.float32), reason="this torch has no packed product on this machine"
)


@pytest.fixture
def packings(monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    """The weights that were asked for in packed form."""
    seen: list[Tensor] = []
    pack = product_module._pack
    monkeypatch.setattr(product_module, "_pack", lambda weight, dtype: (seen.append(weight), pack(weight, dtype))[1])
    return seen


@needs_packed
@pytest.mark.parametrize("rows", [1, 3, 64])
@pytest.mark.parametrize("with_bias", [False, True])
def test_packed_equals_plain(rows: int, with_bias: bool, packings: list[Tensor]) -> None:
    weight, inputs = torch.randn(40, 24), torch.randn(rows, 24)
    bias = torch.randn(40) if with_bias else None
    torch.testing.assert_close(product(weight, bias)(inputs), functional.linear(inputs, weight, bias))
    assert len(packings) == 1


@needs_packed
def test_a_changed_weight_is_packed_anew() -> None:
    weight, inputs = torch.randn(8, 8), torch.randn(2, 8)
    product(weight)(inputs)
    weight.mul_(2.0)
    torch.testing.assert_close(product(weight)(inputs), inputs @ weight.T)
    module = nn.Linear(8, 8, bias=False).requires_grad_(False)
    product(module.weight)(inputs)
    module.weight.data = torch.randn(8, 8)
    torch.testing.assert_close(product(module.weight)(inputs), inputs @ module.weight.T)


def test_weights_that_learn_are_never_packed(packings: list[Tensor]) -> None:
    weight = torch.randn(8, 8, requires_grad=True)
    product(weight)(torch.randn(2, 8)).sum().backward()
    with torch.no_grad():
        product(weight)(torch.randn(2, 8))
    assert weight.grad is not None and packings == []


@needs_packed
def test_training_packs_the_recurrent_weights_for_one_pass(packings: list[Tensor]) -> None:
    """Of four layers the recurrence and the projection, forward and transposed; nothing stays behind the pass."""
    bilm = random_bilm()
    before = len(product_module._copies)
    bilm(batch_to_ids(SENTENCES)).layers.sum().backward()
    recurrent = [(48, 6), (6, 12), (12, 6), (6, 48)]
    assert sorted(tuple(weight.shape) for weight in packings) == sorted(4 * recurrent)
    assert all(parameter.grad is not None for parameter in bilm.parameters())
    packings.clear()
    gc.collect()
    assert len(product_module._copies) <= before


def test_a_bias_that_learns_gets_its_gradient() -> None:
    bias = torch.randn(8, requires_grad=True)
    product(torch.randn(8, 8), bias)(torch.randn(2, 8)).sum().backward()
    assert torch.equal(bias.grad, torch.full((8,), 2.0))


def test_gradients_flow_through_frozen_weights() -> None:
    weight, inputs = torch.randn(8, 8), torch.randn(2, 8, requires_grad=True)
    product(weight)(inputs).sum().backward()
    torch.testing.assert_close(inputs.grad, weight.sum(0).expand(2, 8))


def test_other_types_take_the_plain_product(packings: list[Tensor]) -> None:
    weight, inputs = torch.randn(8, 8, dtype=torch.float64), torch.randn(2, 8, dtype=torch.float64)
    assert torch.equal(product(weight)(inputs), functional.linear(inputs, weight))
    assert packings == []


@pytest.mark.skipif(
    not product_module.has_packed_product(torch.bfloat16), reason="no packed product in bfloat16 on this machine"
)
def test_a_frozen_weight_is_packed_once_for_each_type(packings: list[Tensor]) -> None:
    weight, inputs = torch.randn(40, 24), torch.randn(3, 24)
    low = functional.linear(inputs.bfloat16(), weight.bfloat16())
    for _ in range(2):
        assert product(weight)(inputs).dtype == torch.float32
        torch.testing.assert_close(product(weight, dtype=torch.bfloat16)(inputs), low)
    assert len(packings) == 2


@needs_packed
def test_a_weight_given_up_in_one_type_is_there_for_another() -> None:
    weight, inputs = torch.randn(40, 24), torch.randn(3, 24)
    rounded = weight.bfloat16().float()
    keep_packed(weight, torch.bfloat16)
    torch.testing.assert_close(product(weight)(inputs), functional.linear(inputs, rounded))
    assert torch.equal(weight, rounded)


def test_a_frozen_weight_is_cast_once_where_nothing_can_be_packed() -> None:
    weight, inputs = torch.randn(8, 8), torch.randn(2, 8)
    with torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
        results = [product(weight, dtype=torch.bfloat16)(inputs) for _ in range(2)]
        (copies,) = product_module._copies.get(weight).values()
        assert copies.weight.dtype == torch.bfloat16
        assert product(weight)(inputs).dtype == torch.float32
        assert len(product_module._copies.get(weight)) == 1
        weight.zero_()
        assert not product(weight, dtype=torch.bfloat16)(inputs).any()
    assert torch.equal(results[0], results[1])


def test_a_lower_precision_gives_gradients_in_the_weights_own_type() -> None:
    weight, bias = torch.randn(8, 8, requires_grad=True), torch.randn(8, requires_grad=True)
    product(weight, bias, dtype=torch.bfloat16)(torch.ones(2, 8)).sum().backward()
    assert torch.equal(weight.grad, torch.full((8, 8), 2.0)) and torch.equal(bias.grad, torch.full((8,), 2.0))


@needs_packed
def test_the_layers_are_equal_with_and_without_packing(tmp_path: Path, packings: list[Tensor]) -> None:
    bilm = BiLm.from_files(*write_bilm(tmp_path))
    ids = batch_to_ids(SENTENCES)
    fast = bilm(ids).layers
    weights = {id(weight) for weight in packings}
    assert len(weights) == 4 + 4 + 1 + 12
    packings.clear()
    with torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
        plain = bilm(ids).layers
    assert packings == []
    torch.testing.assert_close(fast, plain, atol=1e-5, rtol=0.0)
    assert fast.abs().max() > 0.5


def test_a_copy_of_a_packed_biLM_computes_the_same(tmp_path: Path) -> None:
    bilm = BiLm.from_files(*write_bilm(tmp_path))
    ids = batch_to_ids(SENTENCES)
    wanted = bilm(ids).layers
    assert torch.equal(copy.deepcopy(bilm)(ids).layers, wanted)


def test_many_tokens_go_through_the_convolutions_in_parts(tmp_path: Path) -> None:
    bilm = BiLm.from_files(*write_bilm(tmp_path))
    tokens = [f"word{number}" for number in range(150)]
    together = bilm(batch_to_ids([tokens])).layers[0, 0]
    for index in (0, 63, 64, 149):
        alone = bilm(batch_to_ids([[tokens[index]]])).layers[0, 0, 0]
        torch.testing.assert_close(together[index], alone, atol=1e-5, rtol=0.0)
