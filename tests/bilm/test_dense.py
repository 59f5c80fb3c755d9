"""A biLM without packing: `torch.export`, files of it, and ONNX."""

import io
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.export import ExportedProgram

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.bilm.dense import export_bilm
from elmo_tasks.elmo.sources.manylangs import open_manylangs
from elmo_tasks.errors import InputError
from tests.elmo.manylangs.make import HERE as MANYLANGS
from tests.elmo.samples import BATCHES, SENTENCES, options, random_bilm

if torch.__version__ < "2.9":
    pytest.skip("torch exports loops from 2.9 on", allow_module_level=True)

CLIPPED = {"cell_clip": 0.6, "proj_clip": 0.5}
"""Clips that bite, so that a program without them differs."""

IDS = [batch_to_ids(batch) for batch in (*BATCHES, SENTENCES, [["a"]])]
"""Batches of several sizes and lengths, with sentences of all lengths."""


@pytest.fixture(scope="module")
def bilm() -> BiLM:
    return random_bilm(**CLIPPED).requires_grad_(False)


@pytest.fixture(scope="module")
def program(bilm: BiLM) -> ExportedProgram:
    return export_bilm(bilm)


def assert_same(bilm: BiLM, program: ExportedProgram) -> None:
    run = program.module()
    for ids in IDS:
        expected = bilm(ids)
        layers, mask = run(ids)
        assert torch.equal(mask, expected.mask)
        assert torch.allclose(layers, expected.layers, atol=1e-5)
        assert not layers[:, ~mask].any()


def test_any_batch_and_length(bilm: BiLM, program: ExportedProgram) -> None:
    assert_same(bilm, program)


def test_a_saved_program(bilm: BiLM, program: ExportedProgram) -> None:
    saved = io.BytesIO()
    torch.export.save(program, saved)
    saved.seek(0)
    assert_same(bilm, torch.export.load(saved))


def test_a_packed_bilm_without_skip_connections_and_of_other_widths() -> None:
    """It stays packed. Words are cut where the biLM cuts them."""
    changes = {"use_skip_connections": False, "max_characters_per_token": 20}
    packed = random_bilm(activation="tanh", **changes).pack()
    assert_same(packed, export_bilm(packed))
    assert packed.is_packed


def test_other_word_encoders_are_refused() -> None:
    with pytest.raises(InputError, match="expected a biLM that reads characters alone"):
        export_bilm(open_manylangs(MANYLANGS / "both"))


def test_onnx(bilm: BiLM, program: ExportedProgram, tmp_path: Path) -> None:
    """The loop over the words is ONNX's `Scan`."""
    pytest.importorskip("onnxscript", reason="tested by make test-onnx")
    onnxruntime = pytest.importorskip("onnxruntime", reason="as onnxscript")
    converted = torch.onnx.export(
        program, input_names=["character_ids"], output_names=["layers", "mask"]
    )
    assert converted is not None
    converted.save(tmp_path / "bilm.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "bilm.onnx")
    for ids in IDS:
        expected = bilm(ids)
        layers, mask = session.run(None, {"character_ids": ids.numpy()})
        assert (mask == expected.mask.numpy()).all()
        assert np.allclose(layers, expected.layers, atol=1e-5)


def test_8_bits_are_not_exported() -> None:
    bilm = BiLM(options(), precision="int8")
    if bilm.precision == "float32":
        pytest.skip("this CPU has no products in 8 bits")
    with pytest.raises(InputError, match="expected float32 or bfloat16, got int8"):
        export_bilm(bilm)
