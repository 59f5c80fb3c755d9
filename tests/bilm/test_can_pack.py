"""
Where weights are packed, by what torch itself says of this processor. The tests of
packed weights are skipped where they cannot be.
"""

import pytest
import torch

from elmo_tasks.bilm.packed_linear import can_pack, packed_linear
from elmo_tasks.bilm.precision import INFERENCE_PRECISIONS

CPU = torch.device("cpu")
HAS_ONEDNN = torch.backends.mkldnn.is_available()


def test_float32_is_packed_where_torch_has_onednn() -> None:
    assert can_pack(CPU, torch.float32) == HAS_ONEDNN


@pytest.mark.skipif(not HAS_ONEDNN, reason="no oneDNN")
def test_bfloat16_is_packed_where_the_processor_has_it() -> None:
    if not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        pytest.skip("oneDNN has no bfloat16 for this processor")
    assert can_pack(CPU, torch.bfloat16)


@pytest.mark.skipif(not HAS_ONEDNN, reason="no oneDNN")
def test_8_bits_are_packed_where_the_processor_has_vnni_or_avx2() -> None:
    assert can_pack(CPU, torch.int8) == (
        torch.cpu._is_vnni_supported() or torch.cpu._is_avx2_supported()
    )


def test_nothing_else_is_packed() -> None:
    for dtype in (torch.float64, torch.float16, torch.int32):
        assert not can_pack(CPU, dtype)
    for dtype in INFERENCE_PRECISIONS.values():
        assert not can_pack(torch.device("meta"), dtype)
        with torch.backends.mkldnn.flags(enabled=False):
            assert not can_pack(CPU, dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_constant_product_has_no_gradient(dtype: torch.dtype) -> None:
    """Packed or not."""
    weight = torch.ones(3, 4, dtype=dtype, requires_grad=True)
    bias = torch.ones(3, dtype=dtype, requires_grad=True)
    outputs = packed_linear(weight, bias)(torch.ones(2, 4, dtype=dtype))
    assert outputs.tolist() == [[5.0] * 3] * 2
    assert not outputs.requires_grad
