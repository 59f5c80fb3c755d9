"""What the files of a model say of its name, its training text and its terms."""

import re
from pathlib import Path

from elmo_tasks.bilm.options import Ancestor
from elmo_tasks.elmo.models.files import ModelFiles, bundled
from elmo_tasks.formats.fetching.published import (
    BUNDLED,
    published,
    published_at,
)
from elmo_tasks.resources import embedded_bilm
from elmo_tasks.system.files import file_sha256
from elmo_tasks.system.run_names import CARD_FILE

OPEN = "not stated"
"""What a card says of something that is not known."""

PERPLEXITY = "held-out perplexity"
"""The row of a card that has it, and the share of `<UNK>`."""

_ROW = re.compile(
    rf"\| (language|text|licence|{PERPLEXITY}) \| (?=\S)((?:[^|]|\\\|)+) \|"
)
"""A row of two cells, as in the table of a card of ours."""

_OF_THE_HUB = re.compile(r"(language|license): *(\S.*)")
"""What the hub reads at the beginning of any card."""


def ancestor_of(files: ModelFiles) -> Ancestor:
    """A model as the ancestor of those that are tuned from it."""
    said = said_of(files)
    sha256 = files.sha256
    if files.weight_file.is_file():
        sha256 = file_sha256(files.weight_file)
    return Ancestor(
        name=BUNDLED if _is_bundled(files) else files.public,
        sha256=sha256,
        text=said.get("text"),
        licence=said.get("licence"),
    )


def said_of(files: ModelFiles) -> dict[str, str]:
    """
    The `language`, `text`, `licence` and `PERPLEXITY` of a model, as far as they are
    known: from the list of published models, or the card beside its weights.
    """
    model = published(files.name) or published_at(files.name.rpartition("+")[2])
    if model is not None:
        said = {"language": model.language, "text": model.text}
        if model.licence is not None:
            said["licence"] = model.licence
            if model.licence_page is not None:
                said["licence"] += f" ({model.licence_page})"
        return said
    weights = files.weight_file
    folder = weights if weights.is_dir() else weights.parent
    if _is_bundled(files):
        folder = embedded_bilm()[1].parent
    return _said_in(folder / CARD_FILE)


def _is_bundled(files: ModelFiles) -> bool:
    return files.sha256 == bundled().sha256


def _said_in(card: Path) -> dict[str, str]:
    """What the table of a card says, or the front matter, which the hub reads."""
    try:
        content = card.read_text("utf-8")
    except (OSError, ValueError):
        return {}
    said: dict[str, str] = {}
    lines = [line for line in content.splitlines() if line.isprintable()]
    for pattern in (_ROW, _OF_THE_HUB):
        for line in lines:
            found = pattern.fullmatch(line)
            if found is not None and found[2] != OPEN:
                key = found[1].replace("license", "licence")
                said.setdefault(key, found[2].replace("\\|", "|"))
    return said
