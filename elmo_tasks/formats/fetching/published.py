"""
The published ELMo models: their names, what is known of each, and their addresses, as
in `published.json`.

What a publisher says of a licence stands there with the page that says it. Nothing else
is claimed: a model without a licence has none that its publisher states, as far as is
known here.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from elmo_tasks.errors import nearest

BUNDLED = "bundled"
"""The name of the biLM that comes with the package."""

NO_RESTRICTIONS = "no restrictions"
"""What a publisher says of a model that may be used in any way."""


@dataclass(frozen=True)
class PublishedModel:
    """
    A model of one language.

    # Parameters

    - `text`: what it was trained on.
    - `files`: URLs of options and weights of a biLM, or of one ZIP.
    - `millions`: the number of parameters, as its publisher or the name of its file
      says.
    - `source`: the kind of model, `bilm` or `manylangs`.
    - `domain`: of the text; empty if it is not stated.
    - `dimension`: the width D of a layer.
    - `licence`: what its publisher says of its use, on the page `licence_page`.
    - `md5`: of each file, where its publisher or a catalogue states it.
    - `aliases`: its other names.
    """

    language: str
    text: str
    files: Sequence[str]
    millions: float | None = None
    source: str = "bilm"
    domain: str = ""
    dimension: int | None = None
    licence: str | None = None
    licence_page: str | None = None
    md5: Sequence[str] = ()
    aliases: Sequence[str] = ()

    def md5_of(self, url: str) -> str | None:
        """The MD5 of the file at one of its addresses, if it is stated."""
        for file, md5 in zip(self.files, self.md5, strict=False):
            if file == url:
                return md5
        return None


_KNOWN = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

MODELS = {name: PublishedModel(**known) for name, known in _KNOWN.items()}
"""By name."""

BUNDLED_MODEL = MODELS.pop(BUNDLED)
"""What is known of it. It has no addresses, and is not in `MODELS`."""


def published(name: str) -> PublishedModel | None:
    """The published model of this name or alias, if there is one."""
    for known, model in MODELS.items():
        if name == known or name in model.aliases:
            return model
    return None


def published_at(url: str) -> PublishedModel | None:
    """The published model that has a file at this address, if there is one."""
    for model in MODELS.values():
        for file in model.files:
            if file.partition("#")[0] == url:
                return model
    return None


def nearest_model(name: str) -> str | None:
    """The name of a model that is most like this one, if any is like it."""
    known = [BUNDLED]
    for one, model in MODELS.items():
        known += [one, *model.aliases]
    return nearest(name, known)
