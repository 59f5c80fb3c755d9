"""What a training reports of its best epoch is what its archive scores."""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params

from elmo_tasks.tasks import TASKS
from elmo_tasks.training.archives.loading import load_archive, score
from elmo_tasks.training.config import read_config
from elmo_tasks.training.run import train
from tests.tiny import bilm_files, tiny_model

BEST = "best_validation_"


@pytest.mark.parametrize("task", TASKS)
def test_best_epoch_has_the_scores_and_the_mix_of_the_archive(
    task: str, configs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A moving average stays far behind the weights. ELMo is at both places."""
    config: dict[str, Any] = read_config(configs / f"{task}.jsonnet").as_dict(
        quiet=True
    )
    config["model"] = tiny_model(task)
    config["model"]["elmo"] = {**bilm_files(tmp_path / "bilm"), "at": "both"}
    config["trainer"] |= {
        "num_epochs": 3,
        "optimizer": {"type": "adam", "lr": 0.05},
        "learning_rate_scheduler": None,
        "moving_average": {"type": "elmo_tasks_exponential", "decay": 0.9},
    }
    run = tmp_path / "run"
    lines: list[str] = []
    train(Params(config), run, report=lines.append)
    assert lines[0].startswith("training on ") and lines[1].startswith("epoch 1 of 3")
    printed = capsys.readouterr().out  # where AllenNLP's warnings are
    assert not any(line in printed for line in lines)
    # Few trees are read for SST: those of the training lack a label.
    assert printed.count("WARNING") == (task == "sst")
    reported = json.loads((run / "metrics.json").read_text())
    assert (run / "curves.png").is_file()
    archive = load_archive(run / "model.tar.gz")
    scored = score(archive, config["validation_data_path"])
    best = {
        name.removeprefix(BEST): value
        for name, value in reported.items()
        if name.startswith(BEST)
    }
    best.pop("reg_loss", None)
    assert "elmo_input_s0" in best
    assert best.keys() == scored.keys()
    for name, value in best.items():
        assert scored[name] == pytest.approx(value, abs=1e-5), name
    mix = archive.model.input_encoder.describe()
    for name, value in mix.items():
        assert best[name] == pytest.approx(value, abs=1e-6), name
