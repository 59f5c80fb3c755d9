"""
Execute runs: training, an interruption after it, resuming, the result; and an ensemble
of two runs.
"""

import json
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from allennlp.commands.evaluate import evaluate_from_archive
from allennlp.common import Params
from allennlp.data import Vocabulary

from elmo_tasks.elmo.models.record import read_record
from elmo_tasks.errors import InputError
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
        row("tested", file=str(root / "snli" / "snli_1.0_train.jsonl"), **keys),
    ]


def part(start: float, end: float) -> dict[str, Any]:
    return {
        "data_loader.type": "elmo_tasks_share",
        "data_loader.part": [start, end],
    }


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    folder = tmp_path_factory.mktemp("ablation")
    return planner(folder, rows(write_data_root(folder / "data")))


@pytest.fixture(scope="module")
def runs(planned: Planner) -> list[Run]:
    """
    Two finished runs; the first was interrupted between its training and its result.
    """
    found = planned.runs([planned.table.row("elmo")], 2)
    trained = found[0].folder / "model"
    train(Params(runnable(found[0].plan, planned.home)), trained)
    epochs = {file: file.stat().st_mtime_ns for file in trained.glob("*_epoch_*.json")}
    assert len(epochs) == 2
    for run in found:
        run.prepare()
        execute.execute(run.folder)
    for file, written in epochs.items():
        assert file.stat().st_mtime_ns == written, "trained again"
    return found


def record(run: Run) -> dict[str, Any]:
    found = run_dir.read_result(run.folder)
    assert found is not None
    return found


def test_result(planned: Planner, runs: list[Run]) -> None:
    """
    The scores are of the best epoch; the archive and the layer cache remain,
    checkpoints do not.
    """
    run = runs[1]
    found = record(run)
    assert (found["row"], found["seed"], found["split"]) == ("elmo", 2, "dev")
    assert (found["hash"], found["config"]) == (run.digest, run.plan["config"])
    assert found["config"]["random_seed"] == 2
    commit = found["commit"]
    assert len(commit.rstrip("+")) == 40 or commit.startswith("version")
    assert 0 < found["seconds"] < 600
    words = found["config"]["model"]["text_field_embedder"]["token_embedders"]["tokens"]
    assert set(found["inputs"]) == {
        found["config"]["train_data_path"],
        found["config"]["validation_data_path"],
        words["pretrained_file"],
        read_record(run.folder / "model")[0].name,
    }
    curve, scores = found["curve"], found["scores"]
    assert [point["epoch"] for point in curve] == [1, 2] and found["epochs"] == 2
    assert scores["accuracy"] == max(point["accuracy"] for point in curve)
    assert curve[int(scores["best_epoch"]) - 1]["accuracy"] == scores["accuracy"]
    weights = [scores[f"elmo_output_s{layer}"] for layer in range(3)]
    assert sum(weights) == pytest.approx(1.0)
    model = run.folder / "model"
    assert (model / "model.tar.gz").is_file() and not list(model.glob("*.th"))
    assert any((planned.home / "layers").rglob("*"))


def test_the_archive_is_evaluated_on_test_data(
    planned: Planner, runs: list[Run]
) -> None:
    (run,) = planned.runs([planned.table.row("tested")], 1)
    run.prepare()
    execute.execute(run.folder)
    expected = evaluate_from_archive(
        run.folder / "model" / "model.tar.gz", run.plan["file"]
    )
    found = record(run)
    assert (found["scores"]["accuracy"], found["file"]) == (
        expected["accuracy"],
        run.plan["file"],
    )


@pytest.mark.parametrize(("kept", "start"), [((0, 0.8), 8), ((0.4, 0.2), 2)])
def test_what_is_aside_is_the_rest_of_the_training_data(
    kept: tuple[float, float], start: int, planned: Planner, tmp_path: Path
) -> None:
    """And nothing of it is in the vocabulary, or in a batch."""
    pairs = []
    for number in range(10):
        label = ("entailment", "neutral")[number % 2]
        pair = {"sentence1": f"word{number} runs", "sentence2": f"it is word{number}"}
        pairs.append(json.dumps(pair | {"gold_label": label}))
    data, rest = tmp_path / "pairs.jsonl", tmp_path / "rest.jsonl"
    data.write_text("\n".join(pairs))
    rest.write_text("\n".join(pairs[start : start + 2]))
    changes = SMALLER | {"train_data_path": str(data), "trainer.num_epochs": 1}
    config = str(planned.home.parent / "data/training_config/snli.jsonnet")
    changes |= part(*kept)
    one = row("a", config=config, metric="aside_accuracy", changes=changes)
    table = planner(tmp_path, [one])
    run = table.run(table.table.row("a"), 1)
    run.prepare()
    execute.execute(run.folder)
    model = run.folder / "model"
    words = (model / "vocabulary" / "tokens.txt").read_text().split()
    unknown = [number for number in range(10) if f"word{number}" not in words]
    assert unknown == [start, start + 1]
    expected = evaluate_from_archive(model / "model.tar.gz", str(rest))
    scores = record(run)["scores"]
    assert scores["aside_accuracy"] == expected["accuracy"]
    assert scores["aside_loss"] == pytest.approx(expected["loss"])


def test_a_moved_training_is_resumed_with_its_new_paths(
    planned: Planner, runs: list[Run], tmp_path: Path
) -> None:
    """It was trained, and has no result yet; the layers are cached beside it."""
    folder = tmp_path / runs[1].folder.name
    shutil.copytree(runs[1].folder, folder)
    model = folder / "model"
    old = run_dir.read_json(model / "config.json") or {}
    assert old["model"]["elmo"]["cache_dir"] == str(planned.home / "layers")
    result = run_dir.read_json(folder / run_dir.RESULT) or {}
    del result["scores"]
    run_dir.write_json(folder / run_dir.RESULT, result)
    execute.execute(folder)
    config = run_dir.read_json(model / "config.json") or {}
    assert config["model"]["elmo"]["cache_dir"] == str(tmp_path / "layers")
    found, expected = run_dir.read_result(folder), record(runs[1])
    assert found is not None and found["scores"] == expected["scores"]


@pytest.mark.slow
def test_runs_import_the_packages_of_the_call(planned: Planner, tmp_path: Path) -> None:
    """
    Each run is a process: it trains and evaluates with a reader from outside the
    project.
    """
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text(
        "from allennlp.data import DatasetReader\nfrom elmo_tasks.tasks.snli.reader import SnliReader\n"
        "@DatasetReader.register('mine')\nclass Mine(SnliReader): pass\n"
    )
    elmo, tested = rows(planned.home.parent / "data")
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


@pytest.mark.slow
def test_a_killed_call_continues_its_runs(planned: Planner, tmp_path: Path) -> None:
    """Its runs end with it, and resume at their last checkpoint."""
    elmo, *_ = rows(planned.home.parent / "data")
    changes = elmo["changes"] | {"trainer.num_epochs": 40}
    table = write_table(tmp_path, [elmo | {"changes": changes}])
    command = [sys.executable, "-m", "elmo_tasks", "ablate", str(table), "-s", "out"]
    killed = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
    pattern = "out/runs/*/model/metrics_epoch_2.json"
    while not list(tmp_path.glob(pattern)):
        time.sleep(0.05)
    killed.kill()
    killed.wait()
    (first,) = tmp_path.glob(pattern)
    written = first.stat().st_mtime_ns
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "[1/1] elmo, seed 1: accuracy" in done.stdout, done.stdout + done.stderr
    assert first.stat().st_mtime_ns == written, "trained again"


def test_the_mean_of_probabilities() -> None:
    def logits(*probabilities: float) -> dict[str, torch.Tensor]:
        return {"logits": torch.tensor([probabilities]).log() + 3.0}

    members = [logits(0.9, 0.06, 0.04), logits(0.4, 0.5, 0.1), logits(0.4, 0.5, 0.1)]
    mean = ensemble.combine(members)["logits"]
    assert mean.exp().tolist()[0] == pytest.approx([1.7 / 3, 1.06 / 3, 0.24 / 3])


def leaning(run: Run, label: str, by: float, folder: Path) -> Path:
    """
    A copy of a run's model that answers with one label, the more surely the larger
    `by`.
    """
    copied = folder / label
    shutil.copytree(run.folder / "model", copied)
    with tarfile.open(copied / "model.tar.gz") as archive:
        archive.extractall(copied, filter="data")
    vocab = Vocabulary.from_files(str(copied / "vocabulary"))
    state = torch.load(copied / "weights.th", weights_only=True)
    names = [name for name in state if name.startswith("classifier.")]
    bias = state[names[-1]]
    assert bias.shape == (3,)
    bias[vocab.get_token_index(label, "labels")] += by
    torch.save(state, copied / "weights.th")
    with tarfile.open(copied / "model.tar.gz", "w:gz") as archive:
        for name in ("config.json", "meta.json", "vocabulary", "weights.th"):
            if (copied / name).exists():
                archive.add(copied / name, name)
    return copied / "model.tar.gz"


def test_an_ensemble_needs_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = SimpleNamespace(model=torch.nn.Identity())
    monkeypatch.setattr(ensemble, "load_archive", lambda *_, **__: loaded)
    with pytest.raises(InputError, match="needs probabilities; Identity has none"):
        ensemble.score_ensemble([Path("model.tar.gz")], "none")


def test_the_metric_sees_the_combined_scores(runs: list[Run], tmp_path: Path) -> None:
    """
    Of a model that leans to one label, and of one that is sure of another; all pairs
    have the second.
    """
    archives = [
        leaning(runs[0], "neutral", 6.0, tmp_path),
        leaning(runs[1], "contradiction", 60.0, tmp_path),
    ]
    data = Path(runs[0].plan["config"]["validation_data_path"])
    pairs = [json.loads(line) for line in data.read_text().splitlines()]
    for pair in pairs:
        pair["gold_label"] = "contradiction"
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))

    def accuracy(*of: Path) -> float:
        return float(ensemble.score_ensemble(of, str(file))["accuracy"])

    assert accuracy(archives[0]) == 0.0
    assert accuracy(archives[1]) == accuracy(*archives) == 1.0
