"""
`elmo-tasks train` constructs a config on its first instances before it writes anything,
and then once more.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands.train import TrainModel
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import Model, SimpleTagger

from elmo_tasks.errors import InputError
from elmo_tasks.training.config import read_config
from elmo_tasks.training.run import train
from tests.archives.test_other_models import tagger
from tests.test_configs import FOLDER
from tests.tiny import SAMPLES, heard


def run(file: Path, out: Path, **overrides: Any) -> None:
    train(read_config(file, json.dumps(overrides)), out)


@pytest.mark.parametrize(
    "overrides",
    [
        {"train_data_path": "no/such.txt"},
        {"trainer.num_epoch": 3},
        {"model.elmo.at": "imput"},
        {"data_loader.batch_sampler.sorting_keys": ["x"]},
        {"data_loader": None},
        {"trainer": 5},
        {"vocabulary": None},
    ],
    ids=str,
)
def test_a_training_stops_before_it_writes(
    overrides: dict[str, Any], tmp_path: Path
) -> None:
    """Also into a folder that has files."""
    old = tmp_path / "old"
    old.mkdir()
    (old / "model.tar.gz").touch()
    (key,) = overrides
    problem = (
        rf"the config has one problem, nothing was written:\n  {key.split('.')[0]}"
    )
    for folder in (tmp_path / "new", old):
        with pytest.raises(InputError, match=problem):
            run(FOLDER / "ner_elmo.jsonnet", folder, **overrides)
    assert not (tmp_path / "new").exists()
    assert [path.name for path in tmp_path.rglob("*")] == ["old", "model.tar.gz"]


WRITTEN = r"run/config\.json'(, 'w'|\))"
"""The end of a renaming to this name, or of opening it for writing."""


@Model.register("tests_counted")
class Counted(SimpleTagger):
    """Counts how often a config constructs it."""

    made = 0

    def __init__(self, vocab: Vocabulary, **options: Any) -> None:
        super().__init__(vocab, **options)
        Counted.made += 1


def test_a_training_constructs_twice_and_writes_its_config_once(tmp_path: Path) -> None:
    config = tagger(tmp_path)
    config["model"]["type"] = "tests_counted"
    written = []

    def hear(event: str, arguments: Any) -> None:
        told = f"{event}{arguments[:2]}"
        if told.startswith(("open", "os.rename")) and re.search(WRITTEN, told):
            written.append(told)

    sys.addaudithook(hear)
    Counted.made = 0
    train(Params(config), tmp_path / "run")
    assert Counted.made == 2
    assert len(written) == 1


def test_plain_allennlp_checks_a_config_before_data_are_read(tmp_path: Path) -> None:
    params = read_config(FOLDER / "ner_elmo.jsonnet", '{"trainer.num_epoch": 3}')
    with pytest.raises(
        InputError, match=r"the config has one problem.*\n  trainer.num_epoch: "
    ):
        TrainModel.from_params(
            params=params, serialization_dir=str(tmp_path), local_rank=0
        )


def test_patterns_that_match_nothing_and_labels_that_cannot_be_learned_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """AllenNLP names patterns of `initializer` and `parameter_groups`."""
    config = tagger(tmp_path)
    config["model"]["regularizer"] = {"regexes": [["crf", "l2"], ["weight", "l2"]]}
    config["trainer"]["no_grad"] = ["elmoo", "bias"]
    config["data_loader"]["max_instances_in_memory"] = 2
    for part in ("validation", "test"):
        text = SAMPLES["ner"].read_text("utf-8").replace("-PER", f"-{part}")
        config[f"{part}_data_path"] = str(tmp_path / part)
        (tmp_path / part).write_text(text, "utf-8")
    with heard(caplog, "elmo_tasks.training.checks.training"):
        train(Params(config), tmp_path / "run")
    assert caplog.messages == [
        "trainer.no_grad: elmoo matches no parameter",
        "model.regularizer: crf matches no parameter",
        "the model cannot learn labels that the training data do not have:"
        " B-test, B-validation, I-test, I-validation",
    ]
