"""Packed weights: the same results, no NaN, conversions and unpacking."""

import copy
import pickle
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.bilm.packed_linear import (
    PackedWeight,
    QuantizedWeight,
    can_pack,
)
from elmo_tasks.bilm.precision import PRECISIONS
from elmo_tasks.errors import InputError
from elmo_tasks.resources import embedded_bilm
from tests.elmo.samples import SENTENCES, options, random_bilm, write_bilm

CPU = torch.device("cpu")
pytestmark = pytest.mark.skipif(
    not all(can_pack(CPU, dtype) for dtype in PRECISIONS.values()),
    reason="torch cannot pack weights on this machine",
)

needs_int8 = pytest.mark.skipif(
    not torch.cpu._is_vnni_supported(), reason="this CPU has no products in 8 bits"
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


def same_state(left: nn.Module, right: nn.Module) -> bool:
    return all_equal(left.state_dict(), right.state_dict())


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
    found = packed(IDS).layers
    torch.testing.assert_close(found, expected, atol=tolerance, rtol=0.0)
    assert expected.abs().max() > 0.5


def test_weight_matrices_are_not_parameters(packed: BiLM, plain: BiLM) -> None:
    with pytest.raises(AttributeError, match="hidden_weight is packed"):
        _ = packed.forward_stack.layers[0].hidden_weight
    assert packed.unpack() is packed and not packed.is_packed
    unpacked = dict(packed.named_parameters())
    assert list(unpacked) == list(dict(plain.named_parameters()))
    assert same_state(packed, plain)
    assert not any(parameter.requires_grad for parameter in unpacked.values())


def test_copies_pickles_and_files_have_all_weights(
    packed: BiLM, plain: BiLM, tmp_path: Path
) -> None:
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
    other = random_bilm(seed=4).requires_grad_(False)
    assert torch.equal(packed(IDS).layers, other(IDS).layers)
    assert packed.is_packed


def test_a_conversion_packs_again_where_it_can(packed: BiLM, plain: BiLM) -> None:
    assert packed.to("cpu").is_packed and packed.bfloat16().is_packed
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


def rounded_to_8_bits(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Integers and a scale for each row [N, K], in NumPy."""
    largest = np.abs(rows).max(1, keepdims=True)
    largest[largest == 0] = 1.0
    return np.floor(rows / largest * 127 + 0.5), largest / 127


@needs_int8
@pytest.mark.parametrize("rows", [1, 2, 7, 64])
@pytest.mark.parametrize("with_bias", [False, True])
def test_products_in_8_bits_are_sums_of_rounded_values(
    rows: int, with_bias: bool
) -> None:
    """Beside NumPy, with rows of very different sizes and rows of zeros."""
    weight = torch.randn(40, 4, 6)
    weight[0] = 0.0
    sizes = torch.logspace(-3, 3, rows)[:, None]
    inputs = torch.randn(rows, 24) * sizes
    inputs[-1] *= float(rows == 1)
    bias = torch.randn(40) if with_bias else None
    packed = QuantizedWeight(weight)
    kept, scale = rounded_to_8_bits(weight.flatten(1).double().numpy())
    unpacked = packed.unpack().flatten(1).double().numpy()
    assert np.abs(unpacked - kept * scale).max() < 1e-4 * np.abs(unpacked).max()
    values, scales = rounded_to_8_bits(inputs.double().numpy())
    expected = torch.from_numpy(values * scales @ unpacked.T)
    if bias is not None:
        expected += bias
    found = packed(inputs, bias)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected.float(), rtol=1e-5, atol=1e-6)
    for row in range(rows):
        assert torch.equal(packed(inputs[row : row + 1], bias), found[row : row + 1])


@needs_int8
@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (5, 0), (0, 5), (2, 0, 3)])
def test_inputs_of_8_bits_of_any_number_of_axes(shape: tuple[int, ...]) -> None:
    weight = torch.randn(7, 24)
    inputs = torch.randn(*shape, 24)
    found = QuantizedWeight(weight)(inputs)
    expected = inputs @ weight.t()
    assert found.shape == expected.shape
    torch.testing.assert_close(found, expected, rtol=0, atol=0.3)


@needs_int8
def test_weights_in_8_bits_are_rounded_once() -> None:
    packed = QuantizedWeight(torch.randn(2000, 24))
    inputs = torch.randn(3, 24)
    weight = packed.unpack()
    again = QuantizedWeight(weight.t().contiguous().t())
    assert torch.equal(again.unpack(), weight)
    assert torch.equal(again(inputs), packed(inputs))
    with_nan = torch.tensor([[torch.nan] + 23 * [1.0]])
    assert packed(with_nan).isnan().all()


@needs_int8
def test_layers_in_8_bits_are_near_and_independent_of_the_batch(tmp_path: Path) -> None:
    exact = BiLM.from_files(*embedded_bilm(), packed=True)
    low = BiLM.from_files(*embedded_bilm(), precision="int8", packed=True)
    expected = exact(IDS)
    found = low(IDS)
    cosines = torch.cosine_similarity(
        expected.layers[:, expected.mask], found.layers[:, found.mask], dim=2
    )
    assert cosines.min() > 0.995 and low.precision == "int8"
    assert not torch.equal(expected.layers, found.layers)
    length = int(found.mask[0].sum())
    alone = low(IDS[:1, :length]).layers[:, 0]
    assert torch.equal(alone, found.layers[:, 0, :length])
    files = tmp_path / "o.json", tmp_path / "w.hdf5"
    low.save_files(*files)
    loaded = BiLM.from_files(*files, precision="int8", packed=True)
    copies = (copy.deepcopy(low), pickle.loads(pickle.dumps(low)), loaded)
    for other in (*copies, low.unpack()):
        assert torch.equal(other(IDS).layers, found.layers)


@needs_int8
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dim", [12, 16, 50, 64, 1000])
def test_vectors_in_8_bits_are_those_of_the_sentence_alone(
    dim: int, threads: int
) -> None:
    """
    Of all widths, and where threads divide a tensor: the least difference of an
    activation would change how it is rounded to 8 bits.
    """
    torch.manual_seed(dim)
    sizes = options(dim=dim, projection_dim=dim // 2, filters=((1, 16), (2, 16)))
    bilm = BiLM(sizes, precision="int8").eval().requires_grad_(False).pack()
    draw = random.Random(dim)
    words = ["".join(draw.choices("abcdefgh", k=draw.randint(1, 9))) for _ in range(99)]
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for _ in range(4):
            sentences = [draw.choices(words, k=draw.randint(1, 30)) for _ in range(23)]
            together = bilm(batch_to_ids(sentences)).layers
            for place in (0, 11, 22):
                alone = bilm(batch_to_ids([sentences[place]])).layers[:, 0]
                assert torch.equal(alone, together[:, place, : alone.shape[1]])
    finally:
        torch.set_num_threads(before)


@needs_int8
def test_a_row_in_8_bits_is_not_too_wide() -> None:
    ones = torch.ones(1, 2**16)
    assert QuantizedWeight(ones)(ones).item() == pytest.approx(2**16)
    with pytest.raises(InputError, match="at most 65,536 numbers, got 65,537"):
        QuantizedWeight(torch.ones(2, 2**16 + 1))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_bias_that_is_part_of_a_matrix(precision: str) -> None:
    weight = PackedWeight(torch.randn(3, 4), PRECISIONS[precision])
    zeros = torch.zeros(2, 4)
    table = torch.tensor([[1.0, 9.0], [2.0, 9.0], [3.0, 9.0]])
    bias = table.to(PRECISIONS[precision])[:, 0]
    assert weight(zeros, bias).tolist() == [[1.0, 2.0, 3.0]] * 2
    assert weight.linear(bias)(zeros).tolist() == [[1.0, 2.0, 3.0]] * 2
    ones = torch.ones(1, dtype=bias.dtype).expand(3)
    assert weight.linear(ones)(zeros).tolist() == [[1.0, 1.0, 1.0]] * 2


@needs_int8
def test_8_bits_have_no_gradient_and_no_other_device(files: Files) -> None:
    bilm = BiLM.from_files(*files, precision="int8").requires_grad_(True)
    with pytest.raises(RuntimeError, match="8 bits need .*, and no gradient"):
        bilm(IDS)
    with pytest.raises(InputError, match="int8 needs the device cpu, got meta"):
        BiLM.from_files(*files, precision="int8", packed=True).to("meta")


def test_a_cpu_without_8_bits_computes_in_float32(
    files: Files,
    plain: BiLM,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", False)
    bilm = BiLM.from_files(*files, precision="int8", packed=True)
    (record,) = caplog.records
    assert "precision int8 needs a CPU with VNNI" in record.getMessage()
    assert bilm.precision == "float32"
    assert torch.equal(bilm(IDS).layers, plain(IDS).layers)
