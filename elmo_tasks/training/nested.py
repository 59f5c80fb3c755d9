"""
Values of a config: objects and lists in each other, and the dotted paths of their
parts, as `-o` writes them (`model.encoder.hidden_sizes.0`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any


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
