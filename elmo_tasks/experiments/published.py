"""
The scores that the paper prints, its own and those of other systems:
`training_config/tables/published.json`.
"""

import json
from functools import cache
from typing import Any

from elmo_tasks.resources import configs_root

FILE = "tables/published.json"


def published(table: str) -> dict[str, dict[str, Any]]:
    """
    The rows of `Table 5` or `Section 3.4`, each with its columns. A score is a number,
    `{"mean": ..., "deviation": ...}` of several runs, `{"says": words}`, or `None`
    where the paper's table has a dash.
    """
    return _tables()[table]


@cache
def _tables() -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]]
    found = json.loads((configs_root() / FILE).read_text("utf-8"))
    return found
