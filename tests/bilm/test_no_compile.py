"""`torch.compile` leaves the biLM and the highway LSTM uncompiled."""

from pathlib import Path
from typing import Any

import torch

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.nn.highway_lstm import HighwayLstm
from tests.elmo.samples import SENTENCES, write_bilm


def reject(*arguments: object) -> Any:
    raise AssertionError("expected no graph")


def test_no_graph_of_a_bilm_or_highway_lstm_is_compiled(tmp_path: Path) -> None:
    bilm, ids = BiLM.from_files(*write_bilm(tmp_path), packed=True), batch_to_ids(SENTENCES)
    assert torch.equal(torch.compile(bilm, backend=reject)(ids).layers, bilm(ids).layers)
    lstm = HighwayLstm(input_size=3, hidden_size=4, num_layers=2)
    inputs, mask = torch.randn(2, 5, 3), torch.ones(2, 5, dtype=torch.bool)
    assert torch.equal(torch.compile(lstm, backend=reject)(inputs, mask), lstm(inputs, mask))
