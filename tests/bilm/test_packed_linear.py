"""Packed weights: the same results, no NaN, conversions and unpacking."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import elmo_tasks.bilm.packed_linear as module
from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.bilm.packed_linear import (
    PRECISIONS,
    PackedWeight,
    QuantizedWeight,
    can_pack,
    packed_linear,
)
from elmo_tasks.errors import InputError
from elmo_tasks.resources import embedded_bilm
from tests.elmo.samples import SENTENCES, options, random_bilm, write_bilm

CPU = torch.device("cpu")
pytestmark = pytest.mark.skipif(
    not all(can_pack(CPU, dtype) for dtype in PRECISIONS.values()), reason="torch cannot pack weights on this machine"
)

needs_int8 = pytest.mark.skipif(not can_pack(CPU, torch.int8), reason="no kernels for 8 bits on this machine")

IDS = batch_to_ids(SENTENCES)

Files = tuple[str, str]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return write_bilm(tmp_path)


@pytest.fixture
def plain(files: Files) -> BiLM:
    return BiLM.from_files(*files)


@pytest.fixture
def packed(files: Files) -> BiLM:
    return BiLM.from_files(*files, packed=True)


def same_state(left: nn.Module, right: nn.Module) -> bool:
    ours, theirs = left.state_dict(), right.state_dict()
    return ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)


def gradients(bilm: BiLM) -> dict[str, Tensor]:
    bilm.zero_grad()
    bilm(IDS).layers.square().sum().backward()
    return {name: parameter.grad for name, parameter in bilm.named_parameters()}


@pytest.mark.parametrize("dtype", PRECISIONS.values(), ids=PRECISIONS)
def test_a_packed_product_equals_the_plain_one(dtype: torch.dtype) -> None:
    weight, bias, inputs = torch.randn(40, 4, 6), torch.randn(40), torch.randn(3, 24)
    expected = functional.linear(inputs.to(dtype), weight.flatten(1).to(dtype), bias.to(dtype))
    torch.testing.assert_close(packed_linear(weight, bias, dtype=dtype)(inputs), expected)
    assert torch.equal(PackedWeight(weight, dtype).unpack(), weight.to(dtype).float())


def test_disabled_onednn_takes_the_plain_product(plain: BiLM) -> None:
    with torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
        bilm = random_bilm().pack()
        assert not bilm.is_packed and torch.equal(bilm(IDS).layers, plain(IDS).layers)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_layers_equal_those_of_the_unpacked_bilm(files: Files, precision: str) -> None:
    packed, plain = (BiLM.from_files(*files, precision=precision, packed=packed) for packed in (True, False))
    assert torch.equal(packed(IDS).layers, plain(IDS).layers)
    with torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
        expected = plain(IDS).layers
    torch.testing.assert_close(packed(IDS).layers, expected, atol=1e-5 if precision == "float32" else 0.05, rtol=0.0)
    assert expected.abs().max() > 0.5


def test_weight_matrices_are_not_parameters(packed: BiLM, plain: BiLM) -> None:
    names = {name for name, _ in packed.named_parameters()}
    assert all(name.endswith("bias") or name == "token_encoder.characters" for name in names)
    assert len(names) == 14 and len(packed.state_dict()) == 35
    layer = packed.forward_stack.layers[0]
    with pytest.raises(AttributeError, match=r"hidden_weight is packed .* unpack\(\)"):
        _ = layer.hidden_weight
    assert packed.unpack() is packed and not packed.is_packed
    assert [name for name, _ in packed.named_parameters()] == [name for name, _ in plain.named_parameters()]
    assert same_state(packed, plain) and not any(parameter.requires_grad for parameter in packed.parameters())


def test_copies_pickles_and_files_have_all_weights(packed: BiLM, plain: BiLM, tmp_path: Path) -> None:
    layers = packed(IDS).layers
    files = tmp_path / "o.json", tmp_path / "w.hdf5"
    packed.save_files(*files)
    loaded = BiLM.from_files(*files, packed=True)
    for other in (copy.deepcopy(packed), pickle.loads(pickle.dumps(packed)), loaded):
        assert other.is_packed and same_state(other, plain)
        assert torch.equal(other(IDS).layers, layers)
    copied = copy.deepcopy(packed)
    packed.load_state_dict(random_bilm(seed=4).state_dict())
    assert torch.equal(copied(IDS).layers, layers)
    assert torch.equal(packed(IDS).layers, random_bilm(seed=4).requires_grad_(False)(IDS).layers)
    assert packed.is_packed


def test_a_conversion_packs_again_where_it_can(packed: BiLM, plain: BiLM) -> None:
    assert packed.to("cpu").is_packed and packed.bfloat16().is_packed
    assert packed.dtype == packed(IDS).layers.dtype == torch.bfloat16
    assert torch.equal(packed(IDS).layers, plain.bfloat16()(IDS).layers)
    assert not packed.double().is_packed
    assert torch.equal(packed(IDS).layers, plain.double()(IDS).layers)


def test_a_gradient_is_an_error_until_unpacked(packed: BiLM, plain: BiLM) -> None:
    with pytest.raises(RuntimeError, match=r"call unpack\(\) before training"):
        packed.requires_grad_(True)
    assert not any(parameter.requires_grad for parameter in packed.parameters())
    nn.ModuleList([packed]).requires_grad_(True)  # reaches the biases past the biLM itself
    with pytest.raises(RuntimeError, match="packed for inference have no gradient"):
        packed(IDS)


def test_a_bilm_unpacked_in_inference_mode_can_be_trained(packed: BiLM, plain: BiLM) -> None:
    with torch.inference_mode():
        packed(IDS)
        packed.unpack()
    found, expected = gradients(packed.requires_grad_(True)), gradients(plain.requires_grad_(True))
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_threads_compute_and_save_at_once(packed: BiLM, plain: BiLM) -> None:
    expected = plain(IDS).layers

    def is_correct(number: int) -> bool:
        return same_state(packed, plain) if number % 4 == 0 else torch.equal(packed(IDS).layers, expected)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(is_correct, range(40)))


@needs_int8
def test_products_in_8_bits_are_exact_sums_of_rounded_values() -> None:
    weight, inputs, bias = (
        torch.randn(40, 4, 6),
        torch.randn(3, 24) * torch.tensor([[1e-3], [1.0], [1e3]]),
        torch.randn(40),
    )
    weight[0], inputs = 0.0, torch.cat([inputs, torch.zeros(1, 24)])
    packed = QuantizedWeight(weight)
    unpacked = packed.unpack().flatten(1).double()
    step = weight.flatten(1).abs().amax(1, keepdim=True) / 127
    assert ((unpacked - weight.flatten(1)).abs() <= 0.5001 * step).all()
    largest = inputs.double().abs().amax(1, keepdim=True).clamp(min=1e-30)
    expected = (inputs / largest * 127).round() @ unpacked.t() * largest / 127 + bias
    torch.testing.assert_close(packed(inputs, bias), expected.float())
    assert torch.equal(packed(inputs)[1:2], packed(inputs[1:2]))
    assert packed(torch.tensor([[torch.nan] + 23 * [1.0]])).isnan().all()
    again = QuantizedWeight(packed.unpack().flatten(1).t().contiguous().t())
    assert torch.equal(again.unpack(), packed.unpack().flatten(1)) and torch.equal(again(inputs), packed(inputs))


@needs_int8
def test_layers_in_8_bits_are_near_and_independent_of_the_batch(tmp_path: Path) -> None:
    exact, low = (
        BiLM.from_files(*embedded_bilm(), precision=precision, packed=True) for precision in ("float32", "int8")
    )
    expected, found = exact(IDS), low(IDS)
    cosines = torch.cosine_similarity(expected.layers[:, expected.mask], found.layers[:, found.mask], dim=2)
    assert cosines.min() > 0.995 and not torch.equal(expected.layers, found.layers)
    length = int(found.mask[0].sum())
    assert torch.equal(low(IDS[:1, :length]).layers[:, 0], found.layers[:, 0, :length])
    low.save_files(*(files := (tmp_path / "o.json", tmp_path / "w.hdf5")))
    loaded = BiLM.from_files(*files, precision="int8", packed=True)
    for other in (copy.deepcopy(low), pickle.loads(pickle.dumps(low)), loaded, low.unpack()):
        assert torch.equal(other(IDS).layers, found.layers)
    with pytest.raises(InputError, match="has no gradient"):
        low.requires_grad_(True)(IDS)


def test_8_bits_are_refused_without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "_is_vnni_supported", lambda: False)
    module._has_packed_linear.cache_clear()
    try:
        with pytest.raises(InputError, match=r"needs a CPU with AVX512-VNNI .*use float32"):
            BiLM(options(), precision="int8")
    finally:
        module._has_packed_linear.cache_clear()
