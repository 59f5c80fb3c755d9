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
