"""
What the config of an archive names that the archive does not contain. Our own ELMo says
which files it was trained with; everything else is on this machine, or may be fetched.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from allennlp.data import DatasetReader
from allennlp.models import Model

from elmo_tasks.elmo.sources.transformer_files import require_text_model
from elmo_tasks.formats.fetching.fetch import hub_model

PARTS = {
    "dataset_reader": DatasetReader,
    "validation_dataset_reader": DatasetReader,
    "model": Model,
}
"""The parts of a config that are constructed when an archive is loaded."""

TRANSFORMER_KEYS = (
    "model_name",
    "transformer_model_name",
    "transformer_model",
    "bert_model_name",
    "bert_model",
)
"""The keys under which AllenNLP's classes take the name of a transformer."""

OTHER_WEIGHTS = (
    "override_weights_file",
    "override_weights_strip_prefix",
    "reinit_modules",
    "pretrained_file",
    "initializer",
)
"""
Keys that say from where a training took weights. A trained model has its own.
"""

URL = re.compile(r"\w+://")

ELMO = "elmo_token_embedder"
"""AllenNLP's own."""

ELMO_FILES = {"options_file", "weight_file"}
"""Its keys, which have addresses by default."""


def constructed(
    config: Mapping[str, Any], *, offline: bool
) -> tuple[dict[str, Any], list[str]]:
    """
    The config from which a trained model is constructed: without the files from which
    its training took weights, and our ELMo fetches nothing if `offline`. Also what
    AllenNLP would fetch for it. Raises `InputError` if a transformer is no model of text.
    """
    changed = dict(config)
    fetched: list[str] = []
    for key in PARTS:
        if key in changed:
            changed[key] = _part("", changed[key], key == "model", offline, fetched)
    return changed, fetched


def _part(
    key: str, value: Any, in_model: bool, offline: bool, fetched: list[str]
) -> Any:
    """A part of the config that has this key, or is in a list that has it."""
    if isinstance(value, list):
        return [_part(key, part, in_model, offline, fetched) for part in value]
    if isinstance(value, str) and _is_fetched(key, value, offline):
        fetched.append(value)
    if not isinstance(value, dict):
        return value
    if is_ours(key, value):
        return {**value, "offline": offline}
    if value.get("type") == ELMO and not value.keys() >= ELMO_FILES:
        fetched.append(ELMO)
    changed = {}
    for name, part in value.items():
        if not in_model or name not in OTHER_WEIGHTS:
            changed[name] = _part(name, part, in_model, offline, fetched)
    return changed


def _is_fetched(key: str, value: str, offline: bool) -> bool:
    """Whether a text in a config is of something that AllenNLP would fetch."""
    if key not in TRANSFORMER_KEYS:
        return value == ELMO and key != "type" or URL.match(value) is not None
    folder = Path(value)
    if not folder.is_dir():
        if offline:
            return True
        folder = hub_model(value, ["*.json"])
    require_text_model(folder)
    return False


def is_ours(key: str, config: Mapping[str, Any]) -> bool:
    """Whether this is a config of our ELMo, which has a type only as a token embedder."""
    if "type" in config:
        return bool(config["type"] == "elmo_tasks")
    return key == "elmo" and "num_output_representations" not in config
