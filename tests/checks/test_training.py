"""
`elmo-tasks train` rejects an invalid config of our models before it reads or writes
anything.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands.train import TrainModel

from elmo_tasks.cli.check import check_config
from elmo_tasks.cli.main import run as run_command
from elmo_tasks.errors import InputError
from elmo_tasks.resources import DATA_VARIABLE
from elmo_tasks.training.checks.training import describe
from elmo_tasks.training.config import read_config
from elmo_tasks.training.run import train
from tests.test_configs import FOLDER
from tests.test_flow import elmo_tasks


def run(
    file: Path,
    out: Path,
    *,
    recover: bool = False,
    force: bool = False,
    **overrides: Any,
) -> None:
    params = read_config(file, json.dumps(overrides))
    train(params, out, recover=recover, force=force)


def test_problems_are_reported_before_anything_is_written(tmp_path: Path) -> None:
    overrides = {
        "trainer.num_epoch": 3,
        "model.elmo.at": "imput",
        "model.elmo.l2": -1,
    }
    with pytest.raises(InputError) as got:
        run(FOLDER / "ner_elmo.jsonnet", tmp_path / "run", **overrides)
    first, *rest = str(got.value).split("\n")
    assert first == "the config has 3 problems, nothing was read or written:"
    assert [line.strip().split(":")[0] for line in rest] == [
        "model.elmo.at",
        "model.elmo.l2",
        "trainer.num_epoch",
    ]
    assert not (tmp_path / "run").exists()


def test_keys_of_a_resumed_run_are_not_checked(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="expected the folder of a run to resume, got none"
    ):
        run(
            FOLDER / "ner.jsonnet",
            tmp_path / "run",
            recover=True,
            **{"trainer.num_epoch": 3},
        )


def test_the_paper_is_named_for_configs_of_its_models_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(DATA_VARIABLE, "/corpora")
    for scale in ("mini", "small", "paper"):
        file = FOLDER / scale / "ner_elmo.jsonnet"
        line = describe(read_config(file).as_dict(quiet=True), scale)
        assert line.startswith(f"scale {scale}: training on /")
        assert line.endswith("/paper/ner_elmo.jsonnet") == (scale != "paper")
    own = {"train_data_path": "own.txt", "model": {"type": "elmo_tasks_ner"}}
    assert describe(own) == "training on own.txt"
    theirs = {**own, "model": {"type": "simple_tagger"}}
    assert describe(theirs, "mini") == "training on own.txt"
    tuned = {**own, "model": {"type": "elmo_tasks_tuned_bilm"}}
    assert describe(tuned, "mini") == "scale mini: training on own.txt"


def test_plain_allennlp_checks_a_config_before_data_are_read(tmp_path: Path) -> None:
    params = read_config(
        FOLDER / "ner_elmo.jsonnet",
        json.dumps({"type": "elmo_tasks", "trainer.num_epoch": 3}),
    )
    with pytest.raises(
        InputError, match=r"the config has one problem.*\n  trainer.num_epoch: "
    ):
        TrainModel.from_params(
            params=params, serialization_dir=str(tmp_path), local_rank=0
        )


def test_force_keeps_a_run_that_cannot_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "model.tar.gz").touch()
    with pytest.raises(
        InputError,
        match="train_data_path: expected an existing file, got nothing at no/such.txt",
    ):
        run(
            FOLDER / "ner.jsonnet",
            tmp_path / "run",
            force=True,
            train_data_path="no/such.txt",
        )
    assert (tmp_path / "run" / "model.tar.gz").is_file()


@pytest.mark.parametrize("given", ["wandb", {"type": "wandb", "project": "x"}])
def test_callback_that_does_not_work_with_the_installed_wandb(
    given: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """AllenNLP would call what wandb has removed, after all data are read."""
    changes = {"trainer.callbacks": [given]}
    problem = "trainer.callbacks.0: expected elmo_tasks_wandb, with the same keys, got"
    with pytest.raises(InputError, match=problem) as raised:
        run(FOLDER / "ner.jsonnet", tmp_path / "run", **changes)
    assert str(raised.value).startswith("the config has one problem")
    assert not (tmp_path / "run").exists()
    with pytest.raises(SystemExit, match="1"):
        run_command(["check", str(FOLDER / "ner.jsonnet"), "-o", json.dumps(changes)])
    assert re.search(problem, capsys.readouterr().out)


@pytest.mark.parametrize(
    "overrides",
    [
        {"data_loader": None},
        {"dataset_reader": None},
        {"model": None},
        {"model": {"type": 5}},
        {"model": 5},
        {"trainer": None},
        {"train_data_path": None},
        {"train_data_path": 5},
        {"vocabulary": None},
    ],
)
def test_training_stops_as_check_says(
    overrides: dict[str, Any], tmp_path: Path
) -> None:
    (problem,) = check_config(FOLDER / "ner.jsonnet", json.dumps(overrides))
    (key,) = overrides
    assert problem.path in (key, f"{key}.type")
    folder = tmp_path / "run"
    options = ["-s", folder, "-o", json.dumps(overrides)]
    with pytest.raises(InputError, match="one problem, nothing was read") as raised:
        elmo_tasks("train", FOLDER / "ner.jsonnet", *options)
    assert str(raised.value).endswith(f"\n  {problem}")
    assert not folder.exists()
