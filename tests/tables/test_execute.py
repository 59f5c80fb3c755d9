"""Execute runs: training, an interruption after it, resuming, the result; and an ensemble of two runs."""

import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from allennlp.commands.evaluate import evaluate_from_archive

from elmo_tasks.experiments.tables import ensemble, execute, run_dir
from elmo_tasks.experiments.tables.runs import Planner, Run, runnable
from elmo_tasks.training.run import train
from tests.tables.tables import planner, row, write_table
from tests.tiny import write_data_root

SMALLER = {
    "model.encoder.hidden_sizes": [4],
    "model.composition.hidden_sizes": [4],
    "model.hidden_size": 4,
    "data_loader.batch_sampler.batch_size": 2,
    "trainer.num_epochs": 2,
}


def rows(root: Path) -> list[dict[str, Any]]:
    keys = {
        "config": str(root / "training_config/snli_elmo.jsonnet"),
        "metric": "accuracy",
        "changes": SMALLER,
    }
    return [
        row("elmo", **keys),
        row(
            "tested",
            split="test",
            file=str(root / "snli" / "snli_1.0_train.jsonl"),
            **keys,
        ),
        row("votes", ensemble={"of": "elmo", "members": 2, "how": "votes"}, **keys),
    ]


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    folder = tmp_path_factory.mktemp("ablation")
    root = write_data_root(folder / "data")
    return planner(folder, rows(root))


@pytest.fixture(scope="module")
def runs(planned: Planner) -> list[Run]:
    """Two finished runs; the first failed between its training and its result."""
    found = planned.runs([planned.table.row("elmo")], 2)
    recovered = []

    def remember(*arguments: Any, recover: bool, **keys: Any) -> None:
        recovered.append(recover)
        train(*arguments, recover=recover, **keys)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute, "train", remember)
        patch.setattr(run_dir, "curve", Mock(side_effect=OSError("the disk is full")))
        run_dir.prepare_run_dir(found[0])
        with pytest.raises(OSError, match="the disk is full"):
            execute.execute(found[0].folder)
    failure = run_dir.read_json(found[0].folder / run_dir.FAILURE)
    assert failure == {"row": "elmo", "seed": 1, "reason": "OSError: the disk is full"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute, "train", remember)
        for run in found:
            run_dir.prepare_run_dir(run)
            execute.execute(run.folder)
    assert recovered == [False, True, False]
    return found


def record(run: Run) -> dict[str, Any]:
    found = run_dir.read_result(run.folder)
    assert found is not None
    return found


def test_result(planned: Planner, runs: list[Run]) -> None:
    """The scores are of the best epoch; the archive and the layer cache remain, checkpoints do not."""
    found = record(runs[1])
    assert (found["row"], found["seed"], found["hash"], found["split"]) == (
        "elmo",
        2,
        runs[1].digest,
        "dev",
    )
    assert (
        found["config"] == runs[1].plan["config"]
        and found["config"]["random_seed"] == 2
    )
    assert len(found["commit"].rstrip("+")) == 40 or found["commit"].startswith(
        "version"
    )
    assert 10**8 < found["peak_memory"] < 10**11 and 0 < found["seconds"] < 600
    best = max(point["accuracy"] for point in found["curve"])
    assert found["scores"]["accuracy"] == best
    assert found["curve"][int(found["scores"]["best_epoch"]) - 1]["accuracy"] == best
    assert [point["epoch"] for point in found["curve"]] == [1, 2] and found[
        "epochs"
    ] == 2
    right = sum(counts.get(gold, 0) for gold, counts in found["confusion"].items())
    assert (
        right / sum(sum(counts.values()) for counts in found["confusion"].values())
        == best
    )
    assert sum(
        found["scores"][f"elmo_output_s{layer}"] for layer in range(3)
    ) == pytest.approx(1.0)
    model = runs[1].folder / "model"
    assert (model / "model.tar.gz").is_file() and not list(model.glob("*.th"))
    assert any((planned.home / "layers").rglob("*"))


def test_the_archive_is_evaluated_on_test_data(
    planned: Planner, runs: list[Run]
) -> None:
    (run,) = planned.runs([planned.table.row("tested")], 1)
    run_dir.prepare_run_dir(run)
    execute.execute(run.folder)
    expected = evaluate_from_archive(
        run.folder / "model" / "model.tar.gz", run.plan["file"]
    )
    found = record(run)
    assert (found["scores"]["accuracy"], found["file"]) == (
        expected["accuracy"],
        run.plan["file"],
    )


def test_a_moved_training_is_resumed_with_its_new_paths(
    planned: Planner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run,) = planned.runs([planned.table.row("elmo")], 1)
    folder = tmp_path / run.folder.name
    run_dir.write_json(folder / run_dir.PLAN, run.plan)
    run_dir.write_json(
        folder / "model" / "config.json", runnable(run.plan, planned.home)
    )
    monkeypatch.setattr(execute, "train", Mock(side_effect=OSError("not here")))
    with pytest.raises(OSError, match="not here"):
        execute.execute(folder)
    config = run_dir.read_json(folder / "model" / "config.json") or {}
    assert config["model"]["elmo"]["cache_dir"] == str(tmp_path / "layers")
    assert execute.train.call_args.kwargs["recover"] is True  # type: ignore[attr-defined]


@pytest.mark.slow
def test_runs_import_the_packages_of_the_call(planned: Planner, tmp_path: Path) -> None:
    """Each run is a process: it trains and evaluates with a reader from outside the project."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text(
        "from allennlp.data import DatasetReader\nfrom elmo_tasks.tasks.snli.reader import SnliReader\n"
        "@DatasetReader.register('mine')\nclass Mine(SnliReader): pass\n"
    )
    root = planned.home.parent / "data"
    elmo, tested, _ = rows(root)
    changes = elmo["changes"] | {"dataset_reader.type": "mine", "trainer.num_epochs": 1}
    table = write_table(tmp_path, [tested | {"changes": changes}])
    command = [
        sys.executable,
        "-m",
        "elmo_tasks",
        "ablate",
        table,
        "-s",
        "out",
        "--include-package",
        "mine",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "[1/1] tested, seed 1: accuracy" in done.stdout, done.stdout + done.stderr
    assert (
        "-s out --include-package mine"
        in (tmp_path / "out" / "report.html").read_text()
    )


def test_an_ensemble_is_scored_with_the_models_own_metric(
    planned: Planner, runs: list[Run]
) -> None:
    *members, together = planned.runs([planned.table.row("votes")], 1)
    assert [member.digest for member in members] == [run.digest for run in runs]
    run_dir.prepare_run_dir(together)
    execute.execute(together.folder)
    scores = record(together)["scores"]
    assert 0 <= scores["accuracy"] <= 1


def test_the_mean_of_probabilities_and_votes() -> None:
    def logits(*probabilities: float) -> dict[str, torch.Tensor]:
        return {"logits": torch.tensor([probabilities]).log() + 3.0}

    members = [logits(0.9, 0.06, 0.04), logits(0.4, 0.5, 0.1), logits(0.4, 0.5, 0.1)]
    mean = ensemble.combine(members, how="probabilities")["logits"]
    assert mean.exp().tolist()[0] == pytest.approx([1.7 / 3, 1.06 / 3, 0.24 / 3])
    votes = ensemble.combine(members, how="votes")["logits"]
    assert votes.argmax().item() == 1
    assert votes.exp().tolist()[0] == pytest.approx([1 / 3, 2 / 3, 0.0], abs=1e-3)


def test_the_metric_sees_the_combined_scores(
    runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_class(given: Any, *, how: str) -> Any:
        first, second = (scores["logits"] for scores in given)
        assert not torch.equal(first, second)
        return given[0] | {"logits": torch.tensor([-9.0, 9.0, -9.0]).expand_as(first)}

    monkeypatch.setattr(ensemble, "combine", one_class)
    archives = [run.folder / "model" / "model.tar.gz" for run in runs]
    scores = ensemble.score_ensemble(
        archives, runs[0].plan["config"]["validation_data_path"], how="votes"
    )
    assert scores["accuracy"] == pytest.approx(1 / 3), "three pairs, one of each label"
