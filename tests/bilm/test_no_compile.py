"""`torch.compile` leaves the biLM and the highway LSTM uncompiled."""

import shutil
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.bilm.no_compile import no_compile
from elmo_tasks.modules.highway_lstm import HighwayLstm
from tests.elmo.samples import SENTENCES, write_bilm


class Doubler(nn.Module):
    """Twice the inputs; records whether it is compiled."""

    def __init__(self) -> None:
        super().__init__()
        self.compiled: list[bool] = []

    @no_compile
    def forward(self, inputs: Tensor, *, factor: float = 2.0) -> Tensor:
        self.compiled.append(torch.compiler.is_compiling())
        return factor * inputs


@pytest.fixture(autouse=True)
def _fresh() -> None:
    torch.compiler.reset()


def test_only_the_rest_is_compiled() -> None:
    doubler, traced = Doubler(), []

    def graph(module: torch.fx.GraphModule, _: list[Tensor]) -> torch.fx.GraphModule:
        traced.append(module)
        return module

    run = torch.compile(lambda inputs: doubler(inputs.exp(), factor=3.0).sin(), backend=graph)
    for width in (2, 3, 4):
        inputs = torch.ones(width)
        assert torch.equal(run(inputs), (3.0 * inputs.exp()).sin())
    assert doubler.compiled == [False] * 3
    assert traced


@pytest.mark.skipif(shutil.which("g++") is None, reason="torch compiles with g++ on a CPU")
def test_a_bilm_and_a_highway_lstm(tmp_path: Path) -> None:
    bilm = BiLM.from_files(*write_bilm(tmp_path), packed=True)
    compiled = torch.compile(bilm)
    for sentences in (SENTENCES, SENTENCES[:1]):
        ids = batch_to_ids(sentences)
        assert torch.equal(compiled(ids).layers, bilm(ids).layers)
    lstm = HighwayLstm(input_size=3, hidden_size=4, num_layers=2)
    inputs, mask = torch.randn(2, 5, 3), torch.ones(2, 5, dtype=torch.bool)
    assert torch.equal(torch.compile(lstm)(inputs, mask), lstm(inputs, mask))
