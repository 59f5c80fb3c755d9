"""Two processes train the biLM as one does with the same global batch."""

import json
import os
import sys
from pathlib import Path

import pytest
import torch

from tests.killing import Training
from tests.pretraining import toy
from tests.system import output_of
from tests.tiny import ROOT

pytestmark = pytest.mark.slow


def test_two_processes_equal_one_with_the_same_global_batch(tmp_path: Path) -> None:
    """
    The other tests fork, so that all modules are imported; here two processes import
    what the command names.
    """
    toy.write_corpus(tmp_path)
    overrides = toy.overrides(
        **{"model.dropout": 0.0, "model.negatives": 10, "trainer.num_epochs": 2}
    )
    assert Training("bilm", tmp_path, overrides).run(tmp_path / "one") == 0, (
        tmp_path / "one.log"
    ).read_text()[-3000:]
    two = json.dumps({"distributed": {"cuda_devices": [-1, -1]}})
    command = [sys.executable, "-m", "elmo_tasks", "train"]
    command += [str(tmp_path / "one" / "config.json"), "-s", str(tmp_path / "two")]
    output_of(command + ["-o", two], ROOT, os.environ | {"OMP_NUM_THREADS": "1"})
    runs = [tmp_path / "one", tmp_path / "two"]
    curves = []
    for run in runs:
        lines = (run / "curve.jsonl").read_text().splitlines()
        curves.append([json.loads(line) for line in lines])
    assert curves[0][1]["perplexity"] < 0.97 * curves[0][0]["perplexity"], (
        "nothing was learned"
    )
    for one, two in zip(curves[0], curves[1], strict=True):
        for name in ("step", "tokens", "unknown"):
            assert two[name] == one[name], name
        for name in (
            "training_loss",
            "perplexity",
            "forward_perplexity",
            "backward_perplexity",
        ):
            assert two[name] == pytest.approx(one[name], rel=1e-4), name
    metrics = [json.loads((run / "metrics.json").read_text()) for run in runs]
    for name in ("training_loss", "training_perplexity", "validation_loss"):
        assert metrics[1][name] == pytest.approx(metrics[0][name], rel=1e-4), name
    weights = [torch.load(run / "best.th", weights_only=True) for run in runs]
    for name in weights[0]:
        assert torch.allclose(
            weights[1][name], weights[0][name], rtol=1e-3, atol=1e-5
        ), name
