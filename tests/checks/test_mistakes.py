"""
A typical mistake in a config is one line that names the key, before a folder is made.
"""

import json
import re

import pytest

from elmo_tasks.cli.check import check_config
from elmo_tasks.tasks import TASKS
from tests.checks.mistakes import MISTAKES, Mistake
from tests.test_configs import FOLDER

pytestmark = pytest.mark.usefixtures("configs")


def name_of(mistake: Mistake) -> str:
    return f"{mistake.config}-{mistake.named}"


@pytest.mark.parametrize("mistake", MISTAKES, ids=name_of)
def test_one_line_names_the_key(mistake: Mistake) -> None:
    file = FOLDER / "mini" / f"{mistake.config}.jsonnet"
    (problem,) = check_config(file, json.dumps(mistake.changes))
    line = str(problem)
    keys = [key for key in mistake.named.split(".") if not key.isdigit()]
    assert re.search(rf"\b{keys[-1]}\b", line)
    assert problem.path
    assert "\n" not in line


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("data_loader.batch_sampler.batch_size", 0),
        ("data_loader.batch_sampler.batch_size", -32),
        ("data_loader.max_instances_in_memory", -1),
        ("data_loader.num_workers", -1),
        ("trainer.num_gradient_accumulation_steps", 0),
        ("trainer.optimizer.lr", -0.1),
        ("trainer.optimizer.eps", -1),
        ("trainer.optimizer.weight_decay", -0.1),
        ("trainer.validation_metric", "+f2-measure"),
    ],
)
def test_a_number_that_the_part_does_not_take(key: str, value: object) -> None:
    """Of AllenNLP or torch, whose error does not name the key."""
    file = FOLDER / "mini" / "sst_elmo.jsonnet"
    (problem,) = check_config(file, json.dumps({key: value}))
    assert problem.path == key
    assert str(value).lstrip("+") in problem.got


def test_all_numbers_that_an_error_may_be_about() -> None:
    file = FOLDER / "mini" / "sst_elmo.jsonnet"
    changes = {"trainer.optimizer.lr": -0.1, "trainer.optimizer.eps": -1}
    (problem,) = check_config(file, json.dumps(changes))
    assert set(problem.path.split(", ")) == set(changes)


def test_a_score_of_a_label_is_a_known_score() -> None:
    file = FOLDER / "mini" / "ner.jsonnet"
    assert check_config(file, json.dumps({"trainer.validation_metric": "+f1-X"})) == []


def test_a_misspelt_key_of_elmo_has_the_nearest() -> None:
    file = FOLDER / "mini" / "sst_elmo.jsonnet"
    (problem,) = check_config(file, json.dumps({"model.elmo.dropuot": 0.5}))
    assert "nearest: dropout" in str(problem)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "overrides", [{"model.elmo": None}, {"model.elmo.at": "input"}], ids=str
)
def test_keys_that_belong_to_elmo_may_stay_without_it(
    task: str, overrides: dict[str, object]
) -> None:
    """And with ELMo at one place, where those of the other place have no effect."""
    file = FOLDER / "mini" / f"{task}_elmo.jsonnet"
    assert check_config(file, json.dumps(overrides)) == []


def test_every_mistake_is_stated_once() -> None:
    stated = [(one.config, json.dumps(one.changes)) for one in MISTAKES]
    assert len(set(stated)) == len(stated) >= 100
