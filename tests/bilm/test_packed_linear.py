"""Packed weights: the same results, no NaN, conversions and unpacking."""

import copy
import pickle
from pathlib import Path

import pytest
import torch
from torch import Tensor

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.bilm.packed_linear import PackedWeight, can_pack
from elmo_tasks.bilm.precision import PRECISIONS
from tests.elmo.samples import SENTENCES, random_bilm, write_bilm

CPU = torch.device("cpu")
pytestmark = pytest.mark.skipif(
    not can_pack(CPU, torch.float32), reason="torch has no oneDNN"
)

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


def all_equal(left: dict[str, Tensor], right: dict[str, Tensor]) -> bool:
    if left.keys() != right.keys():
        return False
    return all(torch.equal(left[name], right[name]) for name in left)


def gradients(bilm: BiLM) -> dict[str, Tensor]:
    bilm.zero_grad()
    bilm(IDS).layers.square().sum().backward()
    return {name: parameter.grad for name, parameter in bilm.named_parameters()}


def test_disabled_onednn_takes_the_plain_product(
    plain: BiLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", False)
    bilm = random_bilm().pack()
    assert not bilm.is_packed and torch.equal(bilm(IDS).layers, plain(IDS).layers)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_layers_equal_those_of_the_unpacked_bilm(
    files: Files, precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = BiLM.from_files(*files, precision=precision, packed=True)
    plain = BiLM.from_files(*files, precision=precision)
    assert torch.equal(packed(IDS).layers, plain(IDS).layers)
    with monkeypatch.context() as patch:
        patch.setattr(torch.backends.mkldnn, "enabled", False)
        expected = plain(IDS).layers
    tolerance = 1e-5 if precision == "float32" else 0.05
    torch.testing.assert_close(packed(IDS).layers, expected, atol=tolerance, rtol=0.0)
    assert expected.abs().max() > 0.5


def test_copies_pickles_and_files_have_all_weights(
    packed: BiLM, plain: BiLM, tmp_path: Path
) -> None:
    layers = packed(IDS).layers
    files = tmp_path / "o.json", tmp_path / "w.hdf5"
    packed.save_files(*files)
    loaded = BiLM.from_files(*files, packed=True)
    for other in (copy.deepcopy(packed), pickle.loads(pickle.dumps(packed)), loaded):
        assert other.is_packed and all_equal(other.state_dict(), plain.state_dict())
        assert torch.equal(other(IDS).layers, layers)
    copied = copy.deepcopy(packed)
    packed.load_state_dict(random_bilm(seed=4).state_dict())
    assert torch.equal(copied(IDS).layers, layers)
    other = random_bilm(seed=4).requires_grad_(False)
    assert torch.equal(packed(IDS).layers, other(IDS).layers)
    assert packed.is_packed


def test_a_conversion_packs_again_where_it_can(packed: BiLM, plain: BiLM) -> None:
    has_bfloat16 = can_pack(CPU, torch.bfloat16)
    assert packed.to("cpu").is_packed and packed.bfloat16().is_packed == has_bfloat16
    assert packed.dtype == packed(IDS).layers.dtype == torch.bfloat16
    assert torch.equal(packed(IDS).layers, plain.bfloat16()(IDS).layers)
    assert not packed.double().is_packed
    assert torch.equal(packed(IDS).layers, plain.double()(IDS).layers)


def test_a_gradient_is_an_error_until_unpacked(packed: BiLM) -> None:
    packed.requires_grad_(True)  # of the biases
    with pytest.raises(RuntimeError, match="packed for inference have no gradient"):
        packed(IDS)


def test_a_bilm_unpacked_in_inference_mode_can_be_trained(
    packed: BiLM, plain: BiLM
) -> None:
    with torch.inference_mode():
        packed(IDS)
        packed.unpack()
    found = gradients(packed.requires_grad_(True))
    expected = gradients(plain.requires_grad_(True))
    assert all_equal(found, expected)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_bias_that_is_part_of_a_matrix(precision: str) -> None:
    if not can_pack(CPU, PRECISIONS[precision]):
        pytest.skip("oneDNN has no bfloat16 for this processor")
    weight = PackedWeight(torch.randn(3, 4), PRECISIONS[precision])
    zeros = torch.zeros(2, 4)
    table = torch.tensor([[1.0, 9.0], [2.0, 9.0], [3.0, 9.0]])
    bias = table.to(PRECISIONS[precision])[:, 0]
    assert weight(zeros, bias).tolist() == [[1.0, 2.0, 3.0]] * 2
    assert weight.linear(bias)(zeros).tolist() == [[1.0, 2.0, 3.0]] * 2
    ones = torch.ones(1, dtype=bias.dtype).expand(3)
    assert weight.linear(ones)(zeros).tolist() == [[1.0, 1.0, 1.0]] * 2
