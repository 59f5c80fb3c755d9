"""One problem of a config."""

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

SHOWN_CHARACTERS = 60
LISTED_NAMES = 12


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A key of a config, and what it should be."""

    path: str
    """As `-o` writes it: `model.encoder.dropout`; list indices are numbers."""
    expected: str
    got: str
    nearest: str | None = None
    """The most similar known name."""

    def __str__(self) -> str:
        advice = "" if self.nearest is None else f"; nearest: {self.nearest}"
        return f"{self.path or 'config'}: expected {self.expected}, got {self.got}{advice}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The most similar known name; `None` if no name is similar."""
    lowered = {candidate.lower(): candidate for candidate in known}
    found = difflib.get_close_matches(name.lower(), lowered, n=1)
    return lowered[found[0]] if found else None


def listed(names: Iterable[str]) -> str:
    """The first `LISTED_NAMES` names, sorted, for a message."""
    ordered = sorted(names)
    rest = len(ordered) - LISTED_NAMES
    return ", ".join(ordered[:LISTED_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def unknown_key(path: str, owner: str, known: Iterable[str]) -> Problem:
    """The problem of a key that `owner` does not have."""
    key, names = path.rpartition(".")[2], list(known)
    near = nearest(key, names)
    expected = f"a key of {owner}" if near else f"a key of {owner} ({listed(names) or 'it has none'})"
    return Problem(path=path, expected=expected, got=f"the unknown key {key}", nearest=near)


def shown(value: Any) -> str:
    """A value as JSON, truncated."""
    text = json.dumps(value, default=str)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 3]}..."


def below(path: str, key: object) -> str:
    """The path of a part."""
    return f"{path}.{key}" if path else str(key)


def items(value: Any) -> Iterable[tuple[Any, Any]]:
    """Keys and values of an object, indices and values of a list, nothing of other values."""
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def get(config: Any, path: str) -> Any:
    """The value at a path of nested objects; `None` if there is none."""
    for key in path.split("."):
        config = config.get(key) if isinstance(config, dict) else None
    return config
