"""Two processes train the biLM as one does with the same global batch, and resume exactly."""

import json
import os
import subprocess
import sys
from functools import cache
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
KINDS: dict[str, dict[str, Any]] = {"full": {}, "sampled": {"model.negatives": 10}}
PACKAGE = "tests.pretraining.witness"
WITNESS = {"trainer.callbacks": [{"type": "elmo_tasks_lm_progress", "every": 5}, "tests_witness"]}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Trains, once each, a kind of configuration in one process or in two; the run's folder."""
    root = tmp_path_factory.mktemp("distributed")
    toy.write_corpus(root)

    @cache
    def trained(kind: str, processes: int) -> Path:
        changes = KINDS[kind] | WITNESS | (TWO if processes == 2 else {})
        given = toy.overrides(**{"model.dropout": 0.0, "trainer.num_epochs": 2} | changes)
        given = {key: value for key, value in given.items() if not key.startswith("trainer.callbacks.")}
        folder = root / f"{kind}.{processes}"
        status = Training("bilm", root, given, package=PACKAGE).run(folder)
        assert status == 0, Path(f"{folder}.log").read_text()[-3000:]
        return folder

    return trained


def curve(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "curve.jsonl").read_text().splitlines()]


def seen(run: Path, rank: int = 0) -> dict[str, Any]:
    return dict(torch.load(run / f"witness.{rank}.pt", weights_only=True))


def test_the_command_starts_the_processes(runs: Any, tmp_path: Path) -> None:
    """The other tests fork them, so that they have all imports: here they import what the command names."""
    root = runs("full", 2).parent
    config = json.loads((runs("full", 2) / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "allennlp", "train", str(tmp_path / "config.json"), "-s", str(tmp_path / "run")]
    done = subprocess.run(
        [*command, "--include-package", PACKAGE],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", settings.DATA_VARIABLE: str(root)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert differences(tmp_path / "run", runs("full", 2)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_train_as_one_with_the_same_global_batch(runs: Any, kind: str) -> None:
    alone, together = curve(runs(kind, 1)), curve(runs(kind, 2))
    assert len(alone) == len(together) == 2
    assert alone[1]["perplexity"] < 0.97 * alone[0]["perplexity"], "nothing was learned"
    for one, two in zip(alone, together, strict=True):
        assert (two["step"], two["tokens"], two["unknown"]) == (one["step"], one["tokens"], one["unknown"])
        for name in ("training_loss", "perplexity", "forward_perplexity", "backward_perplexity"):
            assert two[name] == pytest.approx(one[name], rel=1e-4), name
    metrics = [json.loads((runs(kind, count) / "metrics.json").read_text()) for count in (1, 2)]
    for name in ("training_loss", "training_perplexity", "validation_loss"):
        assert metrics[1][name] == pytest.approx(metrics[0][name], rel=1e-4), name
    for name, weight in seen(runs(kind, 1))["weights"].items():
        if name != "_extra_state":
            assert torch.allclose(seen(runs(kind, 2))["weights"][name], weight, rtol=1e-3, atol=1e-5), name


@pytest.mark.parametrize("kind", KINDS)
def test_the_processes_end_with_equal_weights(runs: Any, kind: str) -> None:
    first, second = (seen(runs(kind, 2), rank)["weights"] for rank in (0, 1))
    assert all(torch.equal(first[name], second[name]) for name in first if name != "_extra_state")


@pytest.mark.parametrize("kind", KINDS)
def test_the_processes_share_the_rows_of_each_batch(runs: Any, kind: str) -> None:
    """So that each token is predicted as often as by one process, once a pass and direction."""
    alone, *together = (seen(runs(kind, count), rank)["targets"] for count, rank in ((1, 0), (2, 0), (2, 1)))
    for name, batches in alone.items():
        assert len(batches) > 5
        for whole, *parts in zip(batches, *(targets[name] for targets in together), strict=True):
            assert [part.shape[1] for part in parts] == [4, 4]
            assert torch.equal(torch.cat(parts, 1), whole), name


def test_each_process_draws_its_own_dropout(runs: Any) -> None:
    """There is none here, so that nothing is drawn that would drive equal seeds apart."""
    state = torch.load(runs("full", 2) / "training_state_e2_b0.th", weights_only=True)["callbacks"][0]
    (other,) = state["others"]
    assert not torch.equal(other["random"]["torch"], state["random"]["torch"])
    assert other["random"]["python"] == state["random"]["python"]


@pytest.fixture(scope="module")
def left_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training of two processes with dropout and negatives that nobody disturbed."""
    root = tmp_path_factory.mktemp("killed")
    toy.write_corpus(root)
    assert dropping(root).run(root / "whole") == 0, (root / "whole.log").read_text()[-3000:]
    return root / "whole"


def dropping(root: Path) -> Training:
    return Training("bilm", root, toy.overrides(**{"model.negatives": 10, "trainer.num_epochs": 2} | TWO))


@pytest.mark.parametrize(
    ("place", "found"),
    [
        (Place("allennlp.training.util:make_vocab_from_params", 1), ""),
        (Place(FORWARD, 7), "model_state_e0_b4.th"),
        (Place(FORWARD, 12), "model_state_e0_b8.th"),
        (Place(FORWARD, 17), "model_state_e1_b0.th"),
    ],
)
def test_two_killed_processes_end_as_those_left_alone(
    left_alone: Path, tmp_path: Path, place: Place, found: str
) -> None:
    """
    Killed before there is a vocabulary, after a checkpoint within an epoch, in validation, and after a checkpoint at
    the end of an epoch.
    """
    training, run = dropping(left_alone.parent), tmp_path / "run"
    assert training.run(run, killed_at=place) != 0
    assert max((path.name for path in run.glob("model_state_*")), default="") == found
    assert training.run(run) == 0, Path(f"{run}.log").read_text()[-3000:]
    assert differences(run, left_alone) == []
