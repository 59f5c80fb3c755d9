"""The scores of a model's run, which the page shows."""

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

import elmo_tasks.plugin  # noqa: F401 - registers what archives name
from elmo_tasks.web.loaded import LoadedModel
from tests.archives.make import STORED


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
