"""What the page says of how good a model is: whether it is judged, and its scores."""

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

import elmo_tasks.plugin  # noqa: F401 - registers what archives name
from elmo_tasks.tasks import TASKS
from elmo_tasks.web.loaded import LoadedModel
from tests.archives.make import INPUTS, STORED
from tests.web.serving import changed

LABELS = "vocabulary/labels.txt"


@pytest.mark.parametrize("task", INPUTS)
def test_models_with_the_labels_of_the_examples_are_judged(task: str) -> None:
    model = LoadedModel(STORED / "1" / f"{task}.tar.gz")
    few_roles = task == "srl"  # its training data have no ARGM-MNR
    assert model.describe()["judged"] is not few_roles


@pytest.mark.parametrize(
    ("old", "new"), [("PER", "person"), ("MISC", "creative-work"), ("LOC", "ORG-2")]
)
def test_models_with_labels_of_their_own_are_not_judged(
    tmp_path: Path, old: str, new: str
) -> None:
    archive = changed(
        STORED / "1" / "ner.tar.gz",
        tmp_path / "model.tar.gz",
        LABELS,
        lambda labels: labels.replace(f"-{old}", f"-{new}"),
    )
    assert not LoadedModel(archive).describe()["judged"]


@pytest.mark.parametrize(
    ("metrics", "scores"),
    [
        ({"best_validation_f1": 0.5, "validation_f1": 0.4}, {"validation": "50.0"}),
        (
            {"best_validation_f1": 0.5, "test_f1": 0.25},
            {"test": "25.0", "validation": "50.0"},
        ),
        ({"best_validation_accuracy": 0.5}, {}),
        ([], {}),
    ],
)
@pytest.mark.parametrize("is_unpacked", [False, True])
def test_scores_are_those_of_the_run(
    tmp_path: Path, metrics: Any, scores: Any, is_unpacked: bool
) -> None:
    archive = tmp_path / "model.tar.gz"
    shutil.copy(STORED / "1" / "ner.tar.gz", archive)
    if is_unpacked:
        with tarfile.open(archive) as packed:
            packed.extractall(tmp_path, filter="data")
        archive = tmp_path
    (tmp_path / "metrics.json").write_text(json.dumps(metrics))
    assert LoadedModel(archive).describe()["scores"] == scores


def test_labels_of_gold_answers() -> None:
    found = {name: task.gold_labels() for name, task in TASKS.items()}
    assert found["ner"] == {"PER", "LOC", "ORG", "MISC"}
    assert found["snli"] <= {"entailment", "neutral", "contradiction"}
    assert {"ARG0", "V", "R-ARG0"} < found["srl"]
    assert found["squad"] == found["coref"] == set()
