"""
A precision that is slower here than float32 says so and is not used: bfloat16 on a CPU
without instructions for it, which is pretended.
"""

import logging
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from elmo_tasks.bilm import BiLM, batch_to_ids, precision
from elmo_tasks.elmo.sources.transformer import Transformer
from elmo_tasks.nn.encoders.highway_lstm import HighwayLstm
from elmo_tasks.pretraining.export import load_trained, packed
from elmo_tasks.resources import embedded_bilm
from tests.elmo.sources.transformer_samples import write_transformer
from tests.pretraining.test_language_model import language_model, random_batch

IDS = batch_to_ids([["A", "dog", "barks", "."], ["No"]])


def of_bilm(name: str, folder: Path) -> Tensor:
    return BiLM.from_files(*embedded_bilm(), precision=name)(IDS).layers


def of_packed_bilm(name: str, folder: Path) -> Tensor:
    return BiLM.from_files(*embedded_bilm(), precision=name, packed=True)(IDS).layers


def of_transformer(name: str, folder: Path) -> Tensor:
    return Transformer(folder, precision=name)(IDS).layers


def of_training(name: str, folder: Path) -> Tensor:
    torch.manual_seed(1)
    model = language_model().train()
    model.precision = name
    return model(random_batch()).loss


def of_surprisal(name: str, folder: Path) -> Tensor:
    torch.manual_seed(1)
    trained = packed(load_trained("bundled"), name, torch.device("cpu"))
    return trained.model.token_losses(random_batch()).nll


def of_encoder(name: str, folder: Path) -> Tensor:
    torch.manual_seed(1)
    encoder = HighwayLstm(
        input_size=8, hidden_size=8, num_layers=2, dropout=0.0, precision=name
    )
    return encoder(torch.randn(2, 3, 8), torch.ones(2, 3, dtype=torch.bool))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(write_transformer(tmp_path_factory.mktemp("bert")))


def pretend(monkeypatch: pytest.MonkeyPatch, *, has_bfloat16: bool) -> None:
    """A processor that is not x86, or one with AVX2 alone."""
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    if not has_bfloat16:
        monkeypatch.setattr(platform, "machine", lambda: "x86_64")
        for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
            monkeypatch.setattr(torch.cpu, name, lambda: False)
        monkeypatch.setattr(torch.cpu, "get_capabilities", dict, raising=False)


@pytest.fixture(autouse=True)
def new_warning() -> None:
    precision._warn.cache_clear()


@pytest.mark.parametrize(
    "computed",
    [of_bilm, of_packed_bilm, of_transformer, of_training, of_surprisal, of_encoder],
)
def test_a_cpu_that_would_emulate_bfloat16(
    computed: Callable[[str, Path], Tensor],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """
    It computes bfloat16 in float32, with weights that are not rounded, and
    emulated_bfloat16 in bfloat16.
    """
    exact = computed("float32", folder)
    pretend(monkeypatch, has_bfloat16=True)
    rounded = computed("bfloat16", folder)
    assert not torch.equal(rounded, exact) and not caplog.records
    pretend(monkeypatch, has_bfloat16=False)
    assert torch.equal(computed("emulated_bfloat16", folder), rounded)
    assert not caplog.records
    logging.disable(logging.CRITICAL)  # as the check of a config does
    computed("bfloat16", folder)
    logging.disable(logging.NOTSET)
    assert torch.equal(computed("bfloat16", folder), exact)
    computed("bfloat16", folder)
    (record,) = caplog.records
    assert "precision bfloat16 needs a CPU with AVX512-BF16" in record.getMessage()


@pytest.mark.slow
def test_a_processor_with_avx2_alone() -> None:
    """Which these variables make of another one."""
    code = "from elmo_tasks.bilm.precision import has_bfloat16; print(has_bfloat16())"
    only = {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}
    found = subprocess.run(
        [sys.executable, "-c", code], env=only, capture_output=True, text=True
    )
    assert found.stdout == "False\n", found.stderr
