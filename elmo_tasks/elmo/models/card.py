"""The model card of a saved model: a README.md as the Hugging Face hub shows it."""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Optional

from elmo_tasks.bilm.ancestry import Ancestor
from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.models.lineage import OPEN, PERPLEXITY, ancestor_of, said_of
from elmo_tasks.formats.fetching.published import NO_RESTRICTIONS
from elmo_tasks.settings import Positive, Settings, Share, Text, checked
from elmo_tasks.system.run_names import CARD_FILE

logger = logging.getLogger(__name__)

_CODE = re.compile(r"[a-z]{2,3}")
"""What the hub accepts as a language."""

_NOT_IN_FILES = "not stated by its files"

_SEE_CARD = "other"
"""The licence for the hub if a card says more than an identifier can."""


@checked
@dataclass(frozen=True, kw_only=True)
class CardSettings(Settings):
    """
    What a model card says, as far as it is known.

    # Parameters

    - `language`: its code, such as `la`, or its name.
    - `license`: its identifier on the hub, such as `cc-by-sa-4.0`.
    - `text`: what the model was trained on.
    - `perplexity`: of held-out text.
    - `unknown_share`: the share of `<UNK>` in it, from 0 to 1.
    """

    language: Optional[Text] = None
    license: Optional[Text] = None
    text: Optional[Text] = None
    perplexity: Optional[Positive] = None
    unknown_share: Optional[Share] = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said."""
        for field in fields(self):
            if getattr(self, field.name) is not None:
                return False
        return True


NO_CARD = CardSettings()


def write_card(
    folder: Path, layers: Layers, about: CardSettings, *, kept: Path, name: str
) -> None:
    """
    Write the card of a model to a folder of new files, unless `about` says nothing and
    there is already one at `kept`. It names the models from which this one was tuned.
    What `about` leaves open is taken from the opened files: see `said_of`. Logs a
    warning if the licence leaves out the terms of the opened model or of an ancestor.
    """
    if about.is_empty and kept.exists():
        _warn_of_parents(layers, kept)
        return
    from huggingface_hub import ModelCard

    said: dict[str, str] = {}
    origins = list(layers.ancestry)
    if layers.files is not None:
        said = said_of(layers.files)
        origins.insert(0, ancestor_of(layers.files))
    _warn_of_terms(about.license, origins)
    language = about.language or said.get("language")
    rows = {
        "language": language or OPEN,
        "text": about.text or said.get("text", OPEN),
        "licence": about.license or said.get("licence", OPEN),
        PERPLEXITY: _perplexity(about, said),
        **_sizes(layers),
    }
    card = ModelCard.from_template(
        _data(layers, language, about.license),
        template_str=_TEXT,
        name=" ".join(name.split()),
        kind=_kind(layers),
        rows=_cells(rows.items()),
        ancestry=_cells([_known(one) for one in layers.ancestry]),
    )
    (folder / CARD_FILE).write_text(f"{card}\n", "utf-8")


def _warn_of_parents(layers: Layers, kept: Path) -> None:
    """Logs a warning for each biLM that this one was tuned from and a card lacks."""
    text = kept.read_text("utf-8", errors="replace")
    for one in layers.ancestry:
        if str(one.sha256) not in text:
            logger.warning(
                "kept %s, which does not name %s (sha256 %s; licence: %s), from which"
                " this biLM was tuned",
                kept,
                one.name,
                one.sha256,
                one.licence or OPEN,
            )


def _data(layers: Layers, language: str | None, license: str | None) -> Any:
    """What the hub reads of a card: its `ModelCardData`."""
    from huggingface_hub import ModelCardData

    of_bilm: dict[str, Any] = {}
    if isinstance(layers.source, BiLM):
        of_bilm["library_name"] = "elmo-tasks"
        of_bilm["tags"] = ["elmo", "bilm", "feature-extraction"]
    if language is not None and _CODE.fullmatch(language):
        of_bilm["language"] = language
    return ModelCardData(license=license, pipeline_tag="feature-extraction", **of_bilm)


def _kind(layers: Layers) -> str:
    if isinstance(layers.source, BiLM):
        paper = "[Peters et al. 2018](https://arxiv.org/abs/1802.05365)"
        return f"A bidirectional language model (ELMo, {paper})"
    return f"The frozen layers of a model of the kind {layers.label}"


def _sizes(layers: Layers) -> dict[str, str]:
    """Rows of the table, by their names."""
    rows = {"vectors": f"{layers.n_layers} layers of {layers.output_dim} values"}
    if isinstance(layers.source, BiLM):
        rows["parameters"] = f"{layers.source.options.n_parameters:,}"
    return rows


def _perplexity(about: CardSettings, said: Mapping[str, str]) -> str:
    """A perplexity says little without the share of `<UNK>`, which is easy to guess."""
    if about.perplexity is None:
        return said.get(PERPLEXITY, OPEN)
    share = OPEN
    if about.unknown_share is not None:
        share = f"{100 * about.unknown_share:.2f} %"
    return f"{about.perplexity:.1f} (`<UNK>`: {share})"


def _known(one: Ancestor) -> list[str]:
    cells = [one.name, one.sha256, one.text, one.licence]
    return [cell or _NOT_IN_FILES for cell in cells]


def _warn_of_terms(licence: str | None, origins: Sequence[Ancestor]) -> None:
    """Logs the known terms of origins that are not those of the given licence."""
    if licence is None:
        return
    silent = (licence.lower(), NO_RESTRICTIONS)
    others = []
    for one in origins:
        if one.licence and one.licence.partition(" (")[0].lower() not in silent:
            others.append(f"{one.name} ({one.licence})")
    if others and licence.lower() != _SEE_CARD:
        logger.warning(
            "licence %s: also the terms of the models from which the weights come hold:"
            " %s",
            licence,
            "; ".join(others),
        )


def _cells(rows: Iterable[Iterable[str]]) -> list[list[str]]:
    """
    Rows of a table in Markdown: texts of one line, without the separator of cells.
    """
    found = []
    for row in rows:
        found.append([" ".join(text.split()).replace("|", "\\|") for text in row])
    return found


_TEXT = """\
---
{{ card_data }}
---

# {{ name }}

{{ kind }}, for vectors of words that depend on their sentence. It repeats what its text says, biases included.

| | |
|---|---|
{% for row in rows %}| {{ row|join(" | ") }} |
{% endfor %}
{% if ancestry %}## Tuned from

The texts and the terms of these biLMs also hold for this one.

| biLM | SHA-256 of its weights | text | licence |
|---|---|---|---|
{% for row in ancestry %}| {{ row|join(" | ") }} |
{% endfor %}
{% endif %}With the package elmo-tasks:

```python
from elmo_tasks.elmo import Elmo

elmo = Elmo.from_pretrained("hf://OWNER/NAME")  # or the path of this folder
vectors = elmo.embed([["It", "ended", "."]])  # a list of arrays, one for each sentence
```
"""
