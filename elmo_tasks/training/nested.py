"""
Values of a config: objects and lists in each other, and the dotted paths of their
parts, as `-o` writes them (`model.encoder.hidden_sizes.0`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any

OBJECTS = (
    "dataset_reader",
    "validation_dataset_reader",
    "model",
    "data_loader",
    "validation_data_loader",
    "trainer",
    "vocabulary",
    "evaluation",
)
"""The keys of a config whose values are objects of registered classes."""


def write_out_types(config: MutableMapping[str, Any]) -> None:
    """
    Puts `{"type": NAME}` where a config has only the name of a class, which AllenNLP
    takes for the same: what reads the config finds objects.
    """
    for key in OBJECTS:
        value = config.get(key)
        if isinstance(value, str) and value not in ("", "None"):  # AllenNLP's null
            config[key] = {"type": value}


def below(path: str, key: object) -> str:
    """The path of a part."""
    if not path:
        return str(key)
    return f"{path}.{key}"


def items(value: Any) -> Iterable[tuple[Any, Any]]:
    """
    Keys and values of an object, indices and values of a list, nothing of other values.
    """
    if isinstance(value, dict):
        return value.items()
    if isinstance(value, list | tuple):
        return enumerate(value)
    return ()


def mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """
    The value with `function` applied to all but dictionaries, lists, tuples and sets;
    dictionaries become plain.
    """
    if isinstance(value, dict):
        return {key: mapped(part, function) for key, part in value.items()}
    if isinstance(value, list | tuple | set):
        return type(value)(mapped(part, function) for part in value)
    return function(value)


def get(config: Any, path: str) -> Any:
    """The value at a path; `None` if there is none."""
    for key in path.split("."):
        if isinstance(config, Mapping):
            config = config.get(key)
        elif isinstance(config, list) and key.isdigit() and int(key) < len(config):
            config = config[int(key)]
        else:
            return None
    return config


def strings(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """The strings in a value, with their paths."""
    if isinstance(value, str):
        yield path, value
    for key, part in items(value):
        yield from strings(below(path, key), part)
