"""
The tables of docs/FIDELITY.md say what the configs in `training_config/paper` resolve
to.
"""

import json
import re
from functools import cache
from typing import Any

import pytest
from allennlp.common import Params

from elmo_tasks.experiments.published import published
from elmo_tasks.resources import DATA_VARIABLE
from elmo_tasks.tasks import TASKS
from tests.tiny import ROOT

ELMO = [
    f"{task.name}_elmo" for task in TASKS.values() if task.title in published("Table 1")
]
ROW = re.compile(
    r"^\| (?P<config>[a-z_` ]+) \| `(?P<key>[\w.]+)` \| `(?P<ours>[^`]+)` \|",
    re.MULTILINE,
)


def rows() -> list[tuple[str, str, str]]:
    """Config, key and value of every row."""
    found = []
    for name, key, ours in ROW.findall((ROOT / "docs/FIDELITY.md").read_text()):
        names = [name]
        if name == "all `_elmo`":
            names = ELMO
        for one in names:
            found.append((one, key, ours))
    return found


@cache
def config(name: str) -> dict[str, Any]:
    return Params.from_file(
        str(ROOT / "training_config/paper" / f"{name}.jsonnet")
    ).as_dict(quiet=True)


@pytest.fixture(autouse=True)
def data_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATA_VARIABLE, "/corpora")


def test_every_row_is_read() -> None:
    lines = (ROOT / "docs/FIDELITY.md").read_text().splitlines()
    in_the_page = [line for line in lines if "` | `" in line]
    assert len(rows()) == len(in_the_page) + 3 * (len(ELMO) - 1)


@pytest.mark.parametrize(("name", "key", "ours"), rows())
def test_the_config_has_the_stated_value(name: str, key: str, ours: str) -> None:
    check_value(name, key, ours)


def check_value(name: str, key: str, stated: str) -> None:
    """A config of scale `paper` has this value."""
    value: Any = config(name)
    for part in key.split("."):
        if isinstance(value, list):
            value = value[int(part)]
        else:
            value = value[part]
    expected = stated
    if not isinstance(value, str):
        expected = json.loads(stated)
    assert value == expected, (name, key)
