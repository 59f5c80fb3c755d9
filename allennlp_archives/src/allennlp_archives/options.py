"""The options of a user, which are variables: `elmo-tasks` has none for these archives."""

import json
import os
from collections.abc import Mapping

from elmo_tasks.errors import InputError, shown

LOCAL = "ALLENNLP_ARCHIVES_LOCAL"
"""
Paths of this machine, by the names and URLs in a config that stand for them: an object
of JSON.
"""

FAST_ELMO = "ALLENNLP_ARCHIVES_FAST_ELMO"
"""If it is 1, AllenNLP's ELMo computes with the biLM of elmo-tasks."""


def local_paths() -> Mapping[str, str]:
    """The value of `LOCAL`. Raises `InputError` if it is no object of texts."""
    text = os.environ.get(LOCAL) or "{}"
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    is_object = isinstance(found, dict)
    if not is_object or not all(isinstance(path, str) for path in found.values()):
        problem = f"{LOCAL}: expected a JSON object of paths by name, got {shown(text)}"
        raise InputError(problem)
    return dict(found)


def is_fast() -> bool:
    """Whether `FAST_ELMO` is set."""
    return os.environ.get(FAST_ELMO) == "1"
