"""
The tables of docs/PAPER.md and docs/paper-values.txt say what the configs in
`training_config/paper` resolve to.
"""

import json
import re
from functools import cache
from typing import Any

import pytest
from allennlp.common import Params

from elmo_tasks.resources import DATA_VARIABLE
from elmo_tasks.tasks import TASKS
from tests.tiny import ROOT

ELMO = [f"{task.name}_elmo" for task in TASKS.values() if task.paper]
ROW = re.compile(
    r"^\| (?P<config>[a-z_` ]+) \| `(?P<key>[\w.]+)` \| `(?P<ours>[^`]+)` \|",
    re.MULTILINE,
)

KEY = re.compile(r"^  \w+\.[\w.]+: ", re.MULTILINE)
PAGE = ROOT / "docs/PAPER.md"
VALUES = ROOT / "docs/paper-values.txt"


def rows() -> list[tuple[str, str, str]]:
    """
    Config, key and value of every row of a table, and of every line of the list, which
    has a config and below it its keys.
    """
    stated = ROW.findall(PAGE.read_text("utf-8"))
    name = ""
    for line in VALUES.read_text("utf-8").splitlines():
        key, _, ours = line.strip().partition(": ")
        if ours:
            stated.append((name, key, ours))
        else:
            name = key
    found = []
    for name, key, ours in stated:
        names = [name]
        if name.replace("`", "") == "all _elmo":
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
    page = PAGE.read_text("utf-8")
    in_tables = [line for line in page.splitlines() if "` | `" in line]
    in_the_list = KEY.findall(VALUES.read_text("utf-8"))
    assert len(rows()) == len(in_tables) + len(in_the_list) + 3 * (len(ELMO) - 1)


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
