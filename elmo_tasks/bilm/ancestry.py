"""
Which biLMs a biLM was tuned from. Their texts and terms also hold for its weights, so
`options.json` names them, and each copy and each further tuning keeps them.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Optional

from elmo_tasks.errors import InputError
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.settings import Settings, Text, checked

TUNED_FROM = "tuned_from"
"""The key in `options.json`, which other loaders ignore."""


@checked
@dataclass(frozen=True, kw_only=True)
class Ancestor(Settings):
    """
    A biLM from which another one was tuned, as far as its files say.

    # Parameters

    - `name`: what the training called it.
    - `sha256`: of its weights.
    - `text`: what it was trained on.
    - `licence`: the terms of its use.
    """

    name: Text
    sha256: Optional[Text] = None
    text: Optional[Text] = None
    licence: Optional[Text] = None


Ancestry = tuple[Ancestor, ...]
"""The biLM from which another one was tuned, then the one from which that was, ..."""


def ancestry_to_json(ancestry: Ancestry) -> list[dict[str, str]]:
    """A list with an object for each, of what is known."""
    written = []
    for ancestor in ancestry:
        known = {key: value for key, value in asdict(ancestor).items() if value}
        written.append(known)
    return written


def ancestry_of_json(values: Sequence[Any], file: Path) -> Ancestry:
    """From that list. Raises `InputError`, which names the file, if it is another."""
    try:
        return tuple([Ancestor.of(one) for one in values])
    except (InputError, TypeError, AttributeError) as error:
        problem = "expected ancestors, each with a name"
        raise InputError(f"{problem}: {error}", file=file) from None


def read_ancestry(options_file: str | Path) -> Ancestry:
    """That of a biLM with this valid `options.json`; empty without the key."""
    found = read_json(options_file, "the biLM's options")
    return ancestry_of_json(found.get(TUNED_FROM, []), Path(options_file))
