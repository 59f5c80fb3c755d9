"""Archives predict and are scored on a GPU as on the CPU."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.predictors import Predictor

from elmo_tasks.training.archives.loading import load_archive, score
from tests.archives.make import EXPECTED, INPUTS, STORED
from tests.archives.test_stored import assert_close
from tests.tiny import SAMPLES


@pytest.mark.parametrize("task", INPUTS)
def test_predictions_are_those_of_the_cpu(task: str, gpu: torch.device) -> None:
    stored = json.loads((STORED / "1" / EXPECTED).read_text("utf-8"))[task]
    archive = load_archive(STORED / "1" / f"{task}.tar.gz", cuda_device=gpu.index)
    assert {parameter.device for parameter in archive.model.parameters()} == {gpu}
    predictor = Predictor.from_archive(archive)
    alone = predictor.predict_json(stored["input"])
    batch = predictor.predict_batch_json([stored["input"]] * 2)
    for output in (alone, *batch):
        assert_close(json.loads(predictor.dump_line(output)), stored["output"])


@pytest.mark.parametrize("task", INPUTS)
def test_scores_and_files_are_those_of_the_cpu(
    task: str, tmp_path: Path, gpu: torch.device
) -> None:
    results: list[Any] = []
    for device in (-1, gpu.index):
        archive = load_archive(STORED / "1" / f"{task}.tar.gz", cuda_device=device)
        out = tmp_path / str(device)
        scores = score(archive, SAMPLES[task], batch_size=3, predictions=out)
        results.append((scores, out.read_text() if out.is_file() else None))
    assert results[1][0] == pytest.approx(results[0][0], rel=1e-4, abs=1e-4)
    assert (results[1][1] is None) == (results[0][1] is None)
