"""
Products in 8 bits, by oneDNN on a CPU with VNNI and by FBGEMM on one with AVX2 alone,
which is pretended: near to float32, and independent of the batch.
"""

import copy
import pickle
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.bilm.packed_linear import FbgemmWeight, QuantizedWeight, weight_class
from elmo_tasks.errors import InputError
from elmo_tasks.resources import embedded_bilm
from tests.elmo.samples import SENTENCES, options, write_bilm

IDS = batch_to_ids(SENTENCES)

Kind = type[QuantizedWeight]


@pytest.fixture(params=[QuantizedWeight, FbgemmWeight])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Kind:
    """How this CPU computes in 8 bits, or would if it had AVX2 alone."""
    expected: Kind = request.param
    if expected is FbgemmWeight:
        if not torch.cpu._is_avx2_supported():
            pytest.skip("this CPU has no AVX2")
        monkeypatch.setattr(torch.cpu, "_is_vnni_supported", lambda: False)
    elif weight_class(torch.int8) is not QuantizedWeight:
        pytest.skip("oneDNN computes without VNNI on this CPU")
    return expected


def rounded_to_8_bits(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Integers and a scale for each row [N, K], in NumPy."""
    largest = np.abs(rows).max(1, keepdims=True)
    largest[largest == 0] = 1.0
    return np.floor(rows / largest * 127 + 0.5), largest / 127


def rounded_to_7_bits(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As `rounded_to_8_bits`, for FBGEMM's inputs."""
    largest = np.abs(rows).max(1, keepdims=True)
    largest[largest == 0] = 1.0
    return np.rint(rows / largest * 64).astype(float), largest / 64.0


@pytest.mark.parametrize("rows", [1, 2, 7, 64])
@pytest.mark.parametrize("with_bias", [False, True])
def test_products_in_8_bits_are_sums_of_rounded_values(
    kind: Kind, rows: int, with_bias: bool
) -> None:
    """Beside NumPy, with rows of very different sizes and rows of zeros."""
    weight = torch.randn(40, 4, 6)
    weight[0] = 0.0
    inputs = torch.randn(rows, 24) * torch.logspace(-3, 3, rows)[:, None]
    inputs[-1] *= float(rows == 1)
    bias = torch.randn(40) if with_bias else None
    packed = kind(weight)
    kept, scale = rounded_to_8_bits(weight.flatten(1).double().numpy())
    unpacked = packed.unpack().flatten(1).double().numpy()
    assert np.abs(unpacked - kept * scale).max() < 1e-4 * np.abs(unpacked).max()
    if kind is FbgemmWeight:
        values, scales = rounded_to_7_bits(inputs.numpy())
    else:
        values, scales = rounded_to_8_bits(inputs.double().numpy())
    expected = torch.from_numpy(values * scales @ unpacked.T)
    if bias is not None:
        expected += bias
    found = packed(inputs, bias)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected.float(), rtol=1e-5, atol=1e-6)
    for row in range(rows):
        assert torch.equal(packed(inputs[row : row + 1], bias), found[row : row + 1])


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.integers(1, 70),
    width=st.integers(1, 600),
    outputs=st.integers(1, 80),
    seed=st.integers(0, 2**32),
    spread=st.floats(0, 8),
)
def test_a_row_in_8_bits_is_independent_of_the_others(
    kind: Kind, rows: int, width: int, outputs: int, seed: int, spread: float
) -> None:
    """Of any number and size."""
    draw = torch.Generator().manual_seed(seed)
    packed = kind(torch.randn(outputs, width, generator=draw))
    sizes = torch.logspace(-spread, spread, rows)[:, None]
    inputs = torch.randn(rows, width, generator=draw) * sizes
    together = packed(inputs)
    alone = [packed(inputs[row : row + 1]) for row in range(rows)]
    assert torch.equal(torch.cat(alone), together)


def test_weights_in_8_bits_are_rounded_once(kind: Kind) -> None:
    packed = kind(torch.randn(2000, 24))
    inputs = torch.randn(3, 24)
    weight = packed.unpack()
    again = kind(weight.t().contiguous().t())
    assert torch.equal(again.unpack(), weight)
    assert torch.equal(again(inputs), packed(inputs))
    with_nan = torch.tensor([[torch.nan] + 23 * [1.0]])
    assert packed(with_nan).isnan().all()


def test_layers_in_8_bits_are_near_and_independent_of_the_batch(
    kind: Kind, tmp_path: Path
) -> None:
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


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dim", [12, 16, 50, 64, 1000])
def test_vectors_in_8_bits_are_those_of_the_sentence_alone(
    kind: Kind, dim: int, threads: int
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


def test_a_row_in_8_bits_is_not_too_wide(kind: Kind) -> None:
    ones = torch.ones(1, 2**16)
    assert kind(ones)(ones).item() == pytest.approx(2**16)
    with pytest.raises(InputError, match="at most 65,536 numbers, got 65,537"):
        kind(torch.ones(2, 2**16 + 1))


def test_8_bits_have_no_gradient_and_no_other_device(
    kind: Kind, tmp_path: Path
) -> None:
    files = write_bilm(tmp_path)
    bilm = BiLM.from_files(*files, precision="int8").requires_grad_(True)
    with pytest.raises(RuntimeError, match="8 bits need .*, and no gradient"):
        bilm(IDS)
    with pytest.raises(InputError, match="int8 needs the device cpu, got meta"):
        BiLM.from_files(*files, precision="int8", packed=True).to("meta")


def test_a_cpu_without_8_bits_computes_in_float32(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It has neither VNNI nor FBGEMM."""
    monkeypatch.setattr(torch.cpu, "_is_vnni_supported", lambda: False)
    monkeypatch.setattr(torch._C, "_supported_qengines", list)
    files = write_bilm(tmp_path)
    bilm = BiLM.from_files(*files, precision="int8", packed=True)
    (record,) = caplog.records
    assert "precision int8 needs a CPU with AVX2" in record.getMessage()
    assert bilm.precision == "float32"
    expected = BiLM.from_files(*files, packed=True)
    assert torch.equal(bilm(IDS).layers, expected(IDS).layers)
