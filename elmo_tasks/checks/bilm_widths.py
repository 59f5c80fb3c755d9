"""Widths that do not fit while `allennlp train` builds a model, with the part that the biLM has in them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from allennlp.common.checks import ConfigurationError

from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.bilm.weights import local_path
from elmo_tasks.checks.sizes import TOLD_WIDTHS
from elmo_tasks.compat.terminal import one_line
from elmo_tasks.errors import InputError


@contextmanager
def naming_bilms(config: Mapping[str, Any]) -> Iterator[None]:
    """
    # Raises

    `InputError`
        In place of an error about the width of a model's embeddings: it also tells the options file of each biLM in
        them, its width, and which keys to change. Other errors pass through.
    """
    try:
        yield
    except (ConfigurationError, InputError) as error:
        message = one_line(error) or ""
        told = next((found for pattern in TOLD_WIDTHS if (found := pattern.search(message))), None)
        bilms = [(path, bilm) for path, bilm in _objects("model", config.get("model")) if _is_read(bilm)]
        if told is None or "embedding" not in message or not bilms:
            raise
        given, wanted = int(told["given"]), int(told["wanted"])
        parts = [f"the biLM of {bilm['options_file']} gives {_width(bilm)} of the {given}" for _, bilm in bilms]
        hint = None if isinstance(error, InputError) else _hint(config, given, wanted, [path for path, _ in bilms])
        raise InputError("; ".join([message, *parts]), hint=hint) from error


def _objects(path: str, part: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """All objects of a config, with their paths."""
    if isinstance(part, dict):
        yield path, part
        for key, value in part.items():
            yield from _objects(f"{path}.{key}", value)


def _is_read(part: Mapping[str, Any]) -> bool:
    """Whether an object names a biLM whose vectors are among the embeddings."""
    return isinstance(part.get("options_file"), str) and "weight_file" in part and part.get("at") != "output"


def _width(bilm: Mapping[str, Any]) -> int:
    """2P; it was read before, when the model was built."""
    return 2 * BiLMOptions.from_file(local_path(bilm["options_file"])).projection_dim


def _hint(config: Mapping[str, Any], given: int, wanted: int, bilms: list[str]) -> str:
    parts = _objects("model", config["model"])
    keys = [f"{path}.{key}" for path, part in parts for key in ("input_size", "input_dim") if part.get(key) == wanted]
    files = " or ".join(f"{path}.options_file and .weight_file" for path in bilms)
    return f"set {keys[-1] if keys else 'the width of what reads them'} to {given}, or {files} to another biLM"
