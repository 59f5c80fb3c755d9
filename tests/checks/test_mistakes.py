"""
Typical mistakes in configs: most are one line that names the key, the file or the value,
before a folder is made.
"""

import json
import re
from typing import Any

import pytest

from elmo_tasks.cli.check import check_config
from elmo_tasks.tasks import TASKS
from elmo_tasks.training.config import items
from tests.checks.mistakes import MISTAKES, Mistake
from tests.test_configs import FOLDER

pytestmark = pytest.mark.usefixtures("configs")

NAMED = 109
"""So many of the mistakes, at least, are named."""


def texts(value: Any) -> list[str]:
    """The parts of a value that are not objects or lists, as an error writes them."""
    found = [text for _, part in items(value) for text in texts(part)]
    if not isinstance(value, dict | list):
        found.append(str(value))
    return found


def is_named(mistake: Mistake, problem: str) -> bool:
    key = [part for part in mistake.named.split(".") if not part.isdigit()][-1]
    names = [key, *texts(list(mistake.changes.values()))]
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", problem) for name in names)


@pytest.mark.slow
def test_most_mistakes_are_named() -> None:
    stated = {(one.config, json.dumps(one.changes)) for one in MISTAKES}
    assert len(stated) == len(MISTAKES) == 116
    unnamed = []
    for mistake in MISTAKES:
        file = FOLDER / f"{mistake.config}.jsonnet"
        problems = check_config(file, json.dumps(mistake.changes)).problems
        assert "\n" not in "".join(problems)
        if not any(is_named(mistake, problem) for problem in problems):
            unnamed.append((mistake.config, mistake.named, problems))
    assert len(MISTAKES) - len(unnamed) >= NAMED, unnamed


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "overrides", [{"model.elmo": None}, {"model.elmo.at": "input"}], ids=str
)
def test_keys_that_belong_to_elmo_may_stay_without_it(
    task: str, overrides: dict[str, object]
) -> None:
    """And with ELMo at one place, where those of the other place have no effect."""
    file = FOLDER / f"{task}_elmo.jsonnet"
    assert check_config(file, json.dumps(overrides)).problems == []
