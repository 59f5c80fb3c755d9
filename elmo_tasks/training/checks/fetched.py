"""
What a check leaves out of a config: it fetches nothing, and does not read what can be
read only once.
"""

import os
import re
from collections.abc import Mapping
from typing import Any

from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.fetch import hub_model, is_hub_model, local_path
from elmo_tasks.formats.fetching.published import published
from elmo_tasks.training.inputs import DATA_PATHS, REMOTE
from elmo_tasks.training.nested import get, strings

PARTS = (
    "dataset_reader",
    "validation_dataset_reader",
    *DATA_PATHS,
    "vocabulary",
    "model",
)
"""The parts of a config whose construction reads what they name."""

_VECTORS = re.compile(r"model\..*\.(pretrained|lookup)_file")

_MODEL_KEYS = ("model", "bilm")
"""Keys whose value, if it is a string, is the name of a model."""

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
"""`owner/name` of the hub, without `hf://`."""


def left_out(config: Mapping[str, Any]) -> dict[str, str]:
    """The keys of what is not constructed, and why."""
    found = {}
    for part in PARTS:
        for path, name in strings(part, config.get(part)):
            if _would_be_fetched(path, name, config):
                found[path] = "would be fetched"
            elif part in DATA_PATHS and os.path.exists(name) and _is_stream(name):
                found[path] = "can be read only once"
    return found


def without(config: dict[str, Any], paths: Mapping[str, str]) -> set[str]:
    """
    Removes vectors and the ELMo of a task model, without which the model can be
    constructed, from a config. Returns the other parts that these paths are in.
    """
    incomplete = set()
    has_words = get(config, "model.word_vectors") is not False
    for path in paths:
        owner, _, key = path.rpartition(".")
        part, *_ = path.split(".")
        if _VECTORS.fullmatch(path):
            del get(config, owner)[key]
        elif path.startswith("model.elmo.") and has_words:
            config["model"]["elmo"] = None
        else:
            incomplete.add(part)
    return incomplete


def _would_be_fetched(path: str, name: str, config: Mapping[str, Any]) -> bool:
    """Whether this is a URL or a name that is not on this machine yet."""
    owner, _, key = path.rpartition(".")
    is_named = key == "model_name" or (
        key == "model" and get(config, f"{owner}.source")
    )
    model = published(name) if key in _MODEL_KEYS else None
    try:
        if model is not None:
            local_path(model.files[-1], offline=True)
        elif is_hub_model(name):
            hub_model(name, ["*"], offline=True)
        elif REMOTE.search(name):
            local_path(name, offline=True)
        elif is_named and _HUB_NAME.fullmatch(name) and not os.path.exists(name):
            hub_model(name, ["*"], offline=True)
    except InputError:
        return True
    return False


def _is_stream(name: str) -> bool:
    return not os.path.isfile(name) and not os.path.isdir(name)
