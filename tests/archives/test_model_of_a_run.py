"""Trainings of both programs say which biLM they used, and so do their archives."""

import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.models import Model
from allennlp.models import load_archive as allennlp_load_archive
from torch import Tensor

import elmo_tasks
from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.errors import InputError
from elmo_tasks.training.archives.info import describe
from elmo_tasks.training.archives.loading import load_archive
from elmo_tasks.training.config import read_config
from elmo_tasks.training.run import train
from tests.tiny import ROOT, SAMPLES, bilm_files, tiny_model

IDS = batch_to_ids([["Mira", "left", "Harrow", "."]])

LOADERS = (allennlp_load_archive, load_archive)
"""AllenNLP's and ours."""

Train = Callable[[Params, Path], object]


def paths(bilm: str, prefix: str = "") -> dict[str, str]:
    return {
        f"{prefix}options_file": f"{bilm}/options.json",
        f"{prefix}weight_file": f"{bilm}/weights.hdf5",
    }


def config(trainer: str, **elmo: Any) -> Params:
    """What our configs of a task are, of the smallest size, on a biLM in `bilm`."""
    of_task = read_config(ROOT / "training_config/ner_elmo.jsonnet")
    return Params(
        {
            "type": of_task["type"],
            "include_in_archive": of_task["include_in_archive"],
            "dataset_reader": {"type": "elmo_tasks_ner"},
            "train_data_path": str(SAMPLES["ner"]),
            "validation_data_path": str(SAMPLES["ner"]),
            "model": {
                **tiny_model("ner"),
                "elmo": {**paths("bilm"), "at": "both", **elmo},
            },
            "data_loader": {"batch_size": 4},
            "trainer": {
                "type": trainer,
                "num_epochs": 1,
                "optimizer": "adam",
                "cuda_device": -1,
                "run_confidence_checks": False,
            },
        }
    )


def vectors(model: Model) -> Tensor:
    layers: Tensor = model.input_encoder.elmo.layers(IDS).layers
    return layers


def found_of(archive: Path) -> list[bool]:
    """Whether each file that an archive needs is there, as `info` says."""
    return [need["found"] is not None for need in describe(archive)["needs"]]


@pytest.mark.parametrize(
    ("archive", "command", "trainer"),
    [
        (False, train_model, "gradient_descent"),
        (False, train, "elmo_tasks"),
        (True, train_model, "elmo_tasks"),
        (True, train, "gradient_descent"),
    ],
)
def test_an_archive_opens_with_its_bilm_alone(
    archive: bool,
    command: Train,
    trainer: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(home)
    bilm_files(home / "bilm")
    command(config(trainer, archive=archive), home / "run")
    for name, value in torch.load(home / "run/best.th").items():
        assert isinstance(value, Tensor), name
    with tarfile.open(home / "run/model.tar.gz") as members:
        names = members.getnames()
    assert "model.json" in names
    assert ("model_files/0/weights.hdf5" in names) == archive
    (record,) = json.loads((home / "run/model.json").read_text())
    assert record["kind"] == "bilm"
    shutil.copy(home / "run/model.tar.gz", elsewhere / "a.tar.gz")
    monkeypatch.chdir(elsewhere)
    bilm_files(elsewhere / "bilm", seed=9)  # another one of the same size
    expected = [vectors(load(elsewhere / "a.tar.gz").model) for load in LOADERS]
    assert torch.equal(expected[0], expected[1])
    assert found_of(elsewhere / "a.tar.gz") == ([] if archive else [True])
    other = json.dumps(paths("bilm", "model.elmo."))
    shutil.move(home / "bilm", home / "moved")
    assert found_of(elsewhere / "a.tar.gz") == ([] if archive else [False])
    moved = json.dumps(paths(f"{home}/moved", "model.elmo."))
    tagger = elmo_tasks.load(elsewhere / "a.tar.gz", overrides=json.loads(moved))
    assert torch.equal(vectors(tagger._model), expected[0])
    for load in LOADERS:
        model = load(elsewhere / "a.tar.gz", overrides=moved).model
        assert torch.equal(vectors(model), expected[0])
        if archive:
            assert torch.equal(vectors(load(elsewhere / "a.tar.gz").model), expected[0])
            continue
        with pytest.raises(InputError, match="trained on another biLM|no such file"):
            load(elsewhere / "a.tar.gz")
        with pytest.raises(InputError, match="trained on another biLM"):
            load(elsewhere / "a.tar.gz", overrides=other)
