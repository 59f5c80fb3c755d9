"""`allennlp train` rejects an invalid config of our models before it reads or writes anything."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands import train
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError

from elmo_tasks import settings
from elmo_tasks.errors import InputError
from tests.test_configs import FOLDER

TAGGER = Path(__file__).parent / "broken" / "tagger.libsonnet"


@pytest.fixture(autouse=True)
def missing_data(mini: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(settings.DATA_VARIABLE, str(tmp_path / "data"))


def run(file: Path, out: Path, *, recover: bool = False, **overrides: Any) -> None:
    train.train_model(Params.from_file(file, json.dumps(overrides)), str(out), recover, dry_run=True)


def test_all_problems_are_reported_before_anything_is_read_or_written(tmp_path: Path) -> None:
    overrides = {"trainer.num_epoch": 3, "model.elmo.at": "imput", "model.word_vector": False}
    with pytest.raises(InputError) as got:
        run(FOLDER / "ner_elmo.jsonnet", tmp_path / "run", **overrides)
    first, *rest = str(got.value).split("\n")
    assert first == "the config has 3 problems, nothing was read or written:"
    assert [line.strip().split(":")[0] for line in rest] == ["model.elmo.at", "model.word_vector", "trainer.num_epoch"]
    assert list(tmp_path.iterdir()) == []


def test_models_of_other_packages_are_not_checked(finished: Path, tmp_path: Path) -> None:
    run(TAGGER, tmp_path / "run", **{"trainer.num_epoch": 3})
    assert (tmp_path / "run" / "vocabulary").is_dir()


def test_a_recovered_run_is_not_checked(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="nothing to recover"):
        run(FOLDER / "ner.jsonnet", tmp_path / "run", recover=True, **{"trainer.num_epoch": 3})


@pytest.mark.parametrize(("config", "recover"), [(FOLDER / "ner.jsonnet", True), (TAGGER, False)])
def test_missing_gpu_is_an_error_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: Path, recover: bool
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(InputError, match=r"\n  trainer.cuda_device: expected -1 \(the CPU\).*, got 0"):
        run(config, tmp_path / "run", recover=recover, **{"trainer.cuda_device": 0})
    assert list(tmp_path.iterdir()) == []


def force(file: Path, out: Path, **overrides: Any) -> None:
    train.train_model_from_file(file, str(out), json.dumps(overrides), force=True, dry_run=True)


@pytest.fixture
def finished(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a finished run, in the current folder."""
    monkeypatch.setenv(settings.DATA_VARIABLE, str(root))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "model.tar.gz").write_text("finished")
    return tmp_path / "good"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("train_data_path", "good/../good/config.json"),
        ("validation_data_path", ["link.txt"]),
        ("model", {"type": "simple_tagger", "embedder": {"weight_file": "good/config.json"}}),
        ("vocabulary", {"type": "from_files", "directory": "good"}),
    ],
)
def test_force_does_not_delete_what_is_read(finished: Path, key: str, value: Any) -> None:
    config = finished / "config.json"
    config.write_text(json.dumps(Params.from_file(TAGGER).as_dict(quiet=True)))
    Path("link.txt").symlink_to(config)
    with pytest.raises(InputError, match=r"good: --force would delete \S+, which the training reads \(give -s another"):
        force(TAGGER, Path("good"), **{key: value})
    assert (finished / "model.tar.gz").is_file()


def test_force_keeps_a_run_that_cannot_be_replaced(finished: Path) -> None:
    with pytest.raises(InputError, match="train_data_path: expected an existing file, got nothing at no/such.txt"):
        force(TAGGER, finished, train_data_path="no/such.txt")
    assert (finished / "model.tar.gz").is_file()
    force(TAGGER, finished)
    assert not (finished / "model.tar.gz").exists()
