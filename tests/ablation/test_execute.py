"""Execute runs: training, an interruption after it, resuming, the result; and an ensemble of two runs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks import settings
from elmo_tasks.ablation import ensemble, execute, run_dir
from elmo_tasks.ablation.runs import Planner, Run
from elmo_tasks.errors import InputError
from tests.ablation.tables import CONFIGS, planner
from tests.tiny import write_data_root

SMALLER = {
    "model.encoder.hidden_sizes": [4],
    "model.composition.hidden_sizes": [4],
    "model.hidden_size": 4,
    "data_loader.batch_sampler.batch_size": 2,
    "trainer.num_epochs": 2,
}


def rows(root: Path) -> list[dict[str, Any]]:
    known = {
        "config": str(CONFIGS / "snli_elmo.jsonnet"),
        "row_label": "SNLI",
        "metric": "accuracy",
        "changes": SMALLER,
    }
    data = str(root / "snli" / "snli_1.0_train.jsonl")
    tested = {"split": "test", "file": data}
    votes = {"of": "elmo", "members": 2, "how": "votes"}
    return [
        {"name": "elmo", "column": "one", **known},
        {"name": "tested", "column": "tested", **known, **tested},
        {"name": "both", "column": "both", "ensemble": {"of": "elmo", "members": 2}, **known},
        {"name": "votes", "column": "votes", "ensemble": votes, **known},
    ]


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planner]:
    folder = tmp_path_factory.mktemp("ablation")
    root = write_data_root(folder / "data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(settings.SCALE_VARIABLE, "mini")
        patch.setenv(settings.DATA_VARIABLE, str(root))
        patch.setenv(settings.FIXTURES_VARIABLE, str(root))
        yield planner(folder, rows(root))


@pytest.fixture(scope="module")
def runs(planned: Planner) -> list[Run]:
    """Two finished runs; the first failed between its training and its result."""
    found = planned.runs([planned.table.row("elmo")], [1, 2])
    for run in found:
        run_dir.prepare_run_dir(run)
    with pytest.MonkeyPatch.context() as patch:

        def broken(model: Path) -> None:
            raise OSError("the disk is full")

        patch.setattr(execute, "_curve", broken)
        with pytest.raises(OSError, match="the disk is full"):
            execute.execute(found[0].folder)
    failure = run_dir.read_json(found[0].folder / run_dir.FAILURE)
    assert failure == {"row": "elmo", "seed": 1, "reason": "OSError: the disk is full"}
    assert run_dir.read_result(found[0].folder) is None
    recovered = []
    train = execute.train_model

    def spied(*arguments: Any, recover: bool, **keys: Any) -> Any:
        recovered.append(recover)
        return train(*arguments, recover=recover, **keys)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute, "train_model", spied)
        for run in found:
            execute.execute(run.folder)
    assert recovered == [True, False]
    return found


def record(run: Run) -> dict[str, Any]:
    found = run_dir.read_result(run.folder)
    assert found is not None
    return found


def test_result(runs: list[Run]) -> None:
    found = record(runs[1])
    assert (found["row"], found["seed"], found["split"]) == ("elmo", 2, "dev")
    assert found["hash"] == runs[1].digest and found["config"] == runs[1].plan["config"]
    assert found["config"]["random_seed"] == 2
    assert {"python", "torch", "allennlp", "elmo_tasks"} <= set(found["versions"])
    assert len(found["commit"].rstrip("+")) == 40 or found["commit"].startswith("version")
    assert 10**8 < found["peak_memory"] < 10**11
    assert 0 < found["seconds"] < 600 and found["started"] <= found["finished"]


def test_scores_are_of_the_best_epoch(runs: list[Run]) -> None:
    for run in runs:
        found = record(run)
        best = max(point["accuracy"] for point in found["curve"])
        assert found["scores"]["accuracy"] == best
        assert found["curve"][int(found["scores"]["best_epoch"]) - 1]["accuracy"] == best
        assert [point["epoch"] for point in found["curve"]] == [1, 2] and found["epochs"] == 2
        assert sum(found["scores"][f"elmo_output_s{layer}"] for layer in range(3)) == pytest.approx(1.0)


def test_files_of_finished_runs(planned: Planner, runs: list[Run]) -> None:
    """The archive and the layer cache remain, checkpoints do not."""
    assert (runs[0].folder / "model" / "model.tar.gz").is_file()
    assert not list((runs[0].folder / "model").glob("*.th"))
    assert any((planned.home / "layers").rglob("*"))


def test_a_finished_run_is_skipped(runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "train_model", None)
    before = (runs[0].folder / run_dir.RESULT).read_text()
    execute.execute(runs[0].folder)
    assert (runs[0].folder / run_dir.RESULT).read_text() == before


def test_the_archive_is_evaluated_on_test_data(
    planned: Planner, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    scored = []

    def evaluate(archive: Path, file: str, *, cuda_device: int) -> dict[str, float]:
        scored.append((archive, file))
        return {"accuracy": 0.25}

    monkeypatch.setattr(execute, "evaluate_from_archive", evaluate)
    (run,) = planned.runs([planned.table.row("tested")], [1])
    run_dir.prepare_run_dir(run)
    execute.execute(run.folder)
    assert scored == [(run.folder / "model" / "model.tar.gz", run.plan["file"])]
    assert record(run)["scores"]["accuracy"] == 0.25 and record(run)["file"] == run.plan["file"]


@pytest.mark.parametrize("row", ["both", "votes"])
def test_an_ensemble_is_scored_with_the_models_own_metric(row: str, planned: Planner, runs: list[Run]) -> None:
    (*members, together) = planned.runs([planned.table.row(row)], [1])
    assert [member.digest for member in members] == [run.digest for run in runs]
    run_dir.prepare_run_dir(together)
    execute.execute(together.folder)
    scores = record(together)["scores"]
    assert 0 <= scores["accuracy"] <= 1 and "recall-neutral" in json.dumps(scores)


def test_the_mean_of_probabilities_and_votes() -> None:
    def logits(*probabilities: float) -> dict[str, torch.Tensor]:
        return {"logits": torch.tensor([probabilities]).log() + 3.0}

    members = [logits(0.9, 0.06, 0.04), logits(0.4, 0.5, 0.1), logits(0.4, 0.5, 0.1)]
    mean = ensemble.combine(members, how="probabilities")["logits"]
    assert mean.exp().tolist()[0] == pytest.approx([1.7 / 3, 1.06 / 3, 0.24 / 3])
    votes = ensemble.combine(members, how="votes")["logits"]
    assert votes.argmax().item() == 1
    assert votes.exp().tolist()[0] == pytest.approx([1 / 3, 2 / 3, 0.0], abs=1e-3)


def test_members_answer_together(runs: list[Run], planned: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the metric sees are the mean probabilities, not the first member's."""
    archives = [run.folder / "model" / "model.tar.gz" for run in runs]
    seen: list[torch.Tensor] = []

    def forced(given: Any, *, how: str) -> Any:
        seen.extend(scores["logits"] for scores in given)
        wrong = torch.full_like(seen[0], -9.0)
        wrong[:, 1] = 9.0
        return given[0] | {"logits": wrong}

    monkeypatch.setattr(ensemble, "combine", forced)
    scores = ensemble.score_ensemble(archives, runs[0].plan["config"]["validation_data_path"], how="forced")
    assert len(seen) == 2 * (len(seen) // 2) and not torch.equal(seen[0], seen[1])
    recalls = sorted(value for key, value in scores.items() if key.startswith("recall-"))
    assert recalls[-1] in (0.0, 1.0) and all(value in (0.0, 1.0) for value in recalls), "one class has it all"


@pytest.mark.parametrize("kind", ["elmo_tasks_ner", "elmo_tasks_coref", "unknown"])
def test_models_without_probabilities_are_rejected(kind: str) -> None:
    with pytest.raises(InputError, match=f"an ensemble needs probabilities; {kind} has none"):
        ensemble.require_probabilities(kind)
