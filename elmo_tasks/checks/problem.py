"""One thing that is wrong with a config, and how it is told."""

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

SHOWN_CHARACTERS = 60
LISTED_NAMES = 12


@dataclass(frozen=True, kw_only=True)
class Problem:
    """
    # Parameters

    path : `str`
        Where in the config, as `-o` writes it: `model.encoder.dropout`; places in a list are numbers.
    wanted, found : `str`
        What should be there, and what is.
    nearest : `str`, optional
        The known name that is most like the one found.
    kind : `str`
        `key`, `type`, `value`, `name`, `missing`, `file`, `split`, `disjoint`, `foreign`, `idle`, `regex`, `device`,
        `size` or `build`.
    """

    path: str
    wanted: str
    found: str
    kind: str
    nearest: str | None = None

    def __str__(self) -> str:
        advice = "" if self.nearest is None else f"; nearest: {self.nearest}"
        return f"{self.path or 'config'}: wanted {self.wanted}, found {self.found}{advice}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like this one; `None` where none is much like it."""
    lowered = {candidate.lower(): candidate for candidate in known}
    found = difflib.get_close_matches(name.lower(), lowered, n=1)
    return lowered[found[0]] if found else None


def listed(names: Iterable[str]) -> str:
    """Names for a message, the first `LISTED_NAMES` of them."""
    all_names = list(names)
    rest = len(all_names) - LISTED_NAMES
    return ", ".join(all_names[:LISTED_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def shown(value: Any) -> str:
    """A value as JSON has it, cut where it is long."""
    text = json.dumps(value, default=str)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 3]}..."


def a(name: str) -> str:
    """A name behind its article."""
    return f"an {name}" if name[:1].upper() in "AEIO" else f"a {name}"


def below(path: str, key: object) -> str:
    """The path of a part."""
    return f"{path}.{key}" if path else str(key)
