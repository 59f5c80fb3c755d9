"""One problem of a config."""

import difflib
import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

SHOWN_CHARACTERS = 60
LISTED_NAMES = 12


class Problem(NamedTuple):
    """A key of a config, as `-o` writes it (`model.encoder.hidden_sizes.0`), what it should be, and what it is."""

    path: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.path or 'config'}: expected {self.expected}, got {self.got}"


def unknown(
    path: str,
    expected: str,
    got: str,
    known: Iterable[str],
    *,
    name: str,
    more: str = "",
) -> Problem:
    """The problem of a name that is none of those known: the nearest one, or else all."""
    ordered = sorted(known)
    if near := nearest(name, ordered):
        return Problem(path, expected, f"{got}; nearest: {near}")
    rest = len(ordered) - LISTED_NAMES
    names = ", ".join(ordered[:LISTED_NAMES]) + (
        f" and {rest} more" if rest > 0 else ""
    )
    return Problem(path, f"{expected} ({names or 'it has none'}{more})", got)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The most similar known name; `None` if no name is similar."""
    lowered = {candidate.lower(): candidate for candidate in known}
    found = difflib.get_close_matches(name.lower(), lowered, n=1)
    return lowered[found[0]] if found else None


def shown(value: Any) -> str:
    """A value as JSON, truncated."""
    text = json.dumps(value, default=str)
    return (
        text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 3]}..."
    )


def below(path: str, key: object) -> str:
    """The path of a part."""
    return f"{path}.{key}" if path else str(key)


def items(value: Any) -> Iterable[tuple[Any, Any]]:
    """Keys and values of an object, indices and values of a list, nothing of other values."""
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list | tuple) else ()


def mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """The value with `function` applied to all but dictionaries, lists, tuples and sets; dictionaries become plain."""
    if isinstance(value, dict):
        return {key: mapped(part, function) for key, part in value.items()}
    if isinstance(value, list | tuple | set):
        return type(value)(mapped(part, function) for part in value)
    return function(value)


def get(config: Any, path: str) -> Any:
    """The value at a path of nested objects; `None` if there is none."""
    for key in path.split("."):
        config = config.get(key) if isinstance(config, dict) else None
    return config
