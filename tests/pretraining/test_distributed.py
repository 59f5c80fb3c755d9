"""Two processes train the biLM as one does with the same global batch, and resume exactly."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks import settings
from tests.killing import Place, Training, differences
from tests.pretraining import toy
from tests.tiny import ROOT

FORWARD = "elmo_tasks.training.trainer:ResumableTrainer.batch_outputs"
TWO = {"distributed": {"cuda_devices": [-1, -1]}}
PACKAGE = "tests.pretraining.witness"
WITNESS = {"trainer.callbacks": [{"type": "elmo_tasks_lm_progress", "every": 5}, "tests_witness"]}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The folders of the same training in one process and in two."""
    root = tmp_path_factory.mktemp("distributed")
    toy.write_corpus(root)
    for processes, changes in ((1, {}), (2, TWO)):
        given = toy.overrides(
            **{"model.dropout": 0.0, "model.negatives": 10, "trainer.num_epochs": 2} | WITNESS | changes
        )
        given = {key: value for key, value in given.items() if not key.startswith("trainer.callbacks.")}
        status = Training("bilm", root, given, package=PACKAGE).run(root / str(processes))
        assert status == 0, (root / f"{processes}.log").read_text()[-3000:]
    return {1: root / "1", 2: root / "2"}


def seen(run: Path, rank: int = 0) -> dict[str, Any]:
    return dict(torch.load(run / f"witness.{rank}.pt", weights_only=True))


def test_the_command_starts_the_processes(runs: dict[int, Path], tmp_path: Path) -> None:
    """The other tests fork, so that all modules are imported; here the processes import what the command names."""
    root = runs[2].parent
    (tmp_path / "config.json").write_text((runs[2] / "config.json").read_text())
    command = [sys.executable, "-m", "allennlp", "train", str(tmp_path / "config.json"), "-s", str(tmp_path / "run")]
    done = subprocess.run(
        [*command, "--include-package", PACKAGE],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", settings.DATA_VARIABLE: str(root)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert differences(tmp_path / "run", runs[2]) == []


def test_two_processes_equal_one_with_the_same_global_batch(runs: dict[int, Path]) -> None:
    curves = [[json.loads(line) for line in (run / "curve.jsonl").read_text().splitlines()] for run in runs.values()]
    assert curves[0][1]["perplexity"] < 0.97 * curves[0][0]["perplexity"], "nothing was learned"
    for one, two in zip(*curves, strict=True):
        assert (two["step"], two["tokens"], two["unknown"]) == (one["step"], one["tokens"], one["unknown"])
        for name in ("training_loss", "perplexity", "forward_perplexity", "backward_perplexity"):
            assert two[name] == pytest.approx(one[name], rel=1e-4), name
    metrics = [json.loads((run / "metrics.json").read_text()) for run in runs.values()]
    for name in ("training_loss", "training_perplexity", "validation_loss"):
        assert metrics[1][name] == pytest.approx(metrics[0][name], rel=1e-4), name
    alone, first, second = (seen(runs[count], rank)["weights"] for count, rank in ((1, 0), (2, 0), (2, 1)))
    for name in alone.keys() - {"_extra_state"}:
        assert torch.equal(first[name], second[name]), name
        assert torch.allclose(first[name], alone[name], rtol=1e-3, atol=1e-5), name


def test_processes_share_the_rows_of_each_batch(runs: dict[int, Path]) -> None:
    """Each token is then predicted as often as by one process, once per pass and direction."""
    alone, *together = (seen(runs[count], rank)["targets"] for count, rank in ((1, 0), (2, 0), (2, 1)))
    for name, batches in alone.items():
        assert len(batches) > 5
        for whole, *parts in zip(batches, *(targets[name] for targets in together), strict=True):
            assert [part.shape[1] for part in parts] == [4, 4]
            assert torch.equal(torch.cat(parts, 1), whole), name


def test_two_killed_processes_resume_exactly(tmp_path: Path) -> None:
    """Killed before there is a vocabulary, within an epoch, and after the checkpoint at the end of an epoch."""
    toy.write_corpus(tmp_path)
    training = Training("bilm", tmp_path, toy.overrides(**{"model.negatives": 10, "trainer.num_epochs": 2} | TWO))
    whole, run = tmp_path / "whole", tmp_path / "run"
    assert training.run(whole) == 0, (tmp_path / "whole.log").read_text()[-3000:]
    for place, found in (
        (Place("allennlp.training.util:make_vocab_from_params", 1), ""),
        (Place(FORWARD, 7), "model_state_e0_b4.th"),
        (Place(FORWARD, 13), "model_state_e1_b0.th"),
    ):
        assert training.run(run, killed_at=place) != 0
        assert max((path.name for path in run.glob("model_state_*")), default="") == found
    assert training.run(run) == 0, Path(f"{run}.log").read_text()[-3000:]
    assert differences(run, whole) == []
