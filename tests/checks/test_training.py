"""`allennlp train` refuses what is wrong with a config of ours before it reads or writes anything, and no other."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands import train
from allennlp.common import Params

from elmo_tasks import settings
from elmo_tasks.checks import training
from elmo_tasks.errors import InputError
from tests.test_configs import FOLDER
from tests.tiny import write_data_root

TAGGER = Path(__file__).parent / "broken" / "tagger.libsonnet"


@pytest.fixture(autouse=True)
def mini(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(settings.SCALE_VARIABLE, "mini")
    monkeypatch.setenv(settings.DATA_VARIABLE, str(tmp_path / "data"))


def run(file: Path, out: Path, *, recover: bool = False, **overrides: Any) -> None:
    train.train_model(Params.from_file(file, json.dumps(overrides)), str(out), recover, dry_run=True)


def test_all_problems_are_told_before_anything_is_read_or_written(tmp_path: Path) -> None:
    overrides = {"trainer.num_epoch": 3, "model.elmo.at": "imput", "model.word_vector": False}
    with pytest.raises(InputError) as got:
        run(FOLDER / "ner_elmo.jsonnet", tmp_path / "run", **overrides)
    first, *rest = str(got.value).split("\n")
    assert first == "the config has 3 problems, nothing was read or written:"
    assert [line.strip().split(":")[0] for line in rest] == ["model.elmo.at", "model.word_vector", "trainer.num_epoch"]
    assert list(tmp_path.iterdir()) == []


def test_a_misspelt_model_of_ours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='model.type: wanted the name of a Model, found "elmo_tasks_nre"; nearest: '):
        run(FOLDER / "ner.jsonnet", tmp_path / "run", **{"model.type": "elmo_tasks_nre"})


def test_a_sound_config_goes_on_to_its_data(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="eng.train: no such file"):
        run(FOLDER / "ner.jsonnet", tmp_path / "run")


def test_a_model_of_others_trains_as_before(tmp_path: Path) -> None:
    write_data_root(tmp_path / "data")
    run(TAGGER, tmp_path / "run", **{"trainer.num_epoch": 3})
    assert (tmp_path / "run" / "vocabulary").is_dir()


def test_a_recovered_run_is_warned(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    overrides = {"trainer.num_epoch": 3}
    (tmp_path / "run").mkdir()
    Params.from_file(FOLDER / "ner.jsonnet", json.dumps(overrides)).to_file(str(tmp_path / "run" / "config.json"))
    training.logger.addHandler(caplog.handler)
    with caplog.at_level(logging.WARNING, logger=training.logger.name), pytest.raises(InputError, match="no such file"):
        run(FOLDER / "ner.jsonnet", tmp_path / "run", recover=True, **overrides)
    training.logger.removeHandler(caplog.handler)
    assert "trainer.num_epoch" in caplog.text


def test_the_check_is_put_in_once() -> None:
    before = train.train_model
    training.check_before_training()
    assert train.train_model is before


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ({"type": "elmo_tasks_ner"}, True),
        ("elmo_tasks_bilm", True),
        ({"type": "elmo_tasks.ner.model.NerTagger"}, True),
        ({"type": "simple_tagger"}, False),
        ({"type": "nobody"}, False),
        ({"type": 3}, False),
        ({}, False),
        (None, False),
    ],
)
def test_which_models_are_ours(model: Any, found: bool) -> None:
    assert training.is_ours({"model": model}) is found
