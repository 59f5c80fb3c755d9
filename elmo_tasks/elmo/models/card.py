"""The model card of a saved model: a README.md as the Hugging Face hub shows it."""

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Optional, TypedDict

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.formats.fetching.published import published
from elmo_tasks.settings import Positive, Settings

ADDRESS = "hf://OWNER/NAME"
"""Stands in a card for the address of a repository that is not known yet."""

_LIBRARY = "elmo-tasks"
_CODE = re.compile(r"[a-z]{2,3}")
"""What the hub accepts as a language."""


def _has_a_word(text: str) -> str | None:
    words = "".join(text.split())
    if words and words.isprintable():
        return None
    return "printable text with a word"


Text = Annotated[str, _has_a_word]


@dataclass(frozen=True, kw_only=True)
class CardSettings(Settings):
    """
    What a model card says, as far as it is known.

    # Parameters

    - `language`: its code, such as `la`, or its name.
    - `license`: its identifier on the hub, such as `cc-by-sa-4.0`.
    - `text`: what the model was trained on.
    - `perplexity`: of held-out text.
    """

    language: Optional[Text] = None
    license: Optional[Text] = None
    text: Optional[Text] = None
    perplexity: Optional[Positive] = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said."""
        for field in fields(self):
            if getattr(self, field.name) is not None:
                return False
        return True


class Card(TypedDict, total=False):
    """The fields of `CardSettings`, as keywords."""

    language: Optional[Text]
    license: Optional[Text]
    text: Optional[Text]
    perplexity: Optional[Positive]


NO_CARD = CardSettings()


def card_text(layers: Layers, about: CardSettings, name: str) -> str:
    """
    The card of a model. What `about` leaves open is taken from the list of published
    models, for one of them.
    """
    from huggingface_hub import ModelCard

    language = about.language
    text = about.text
    licence = about.license
    if layers.files is not None:
        model = published(layers.files.weight_file.name)
        if model is not None:
            language = language or model.language
            text = text or model.text
            licence = licence or model.licence.name
    rows = {
        "language": language or "not stated",
        "text": text or "not stated",
        "licence": licence or "not stated",
        "held-out perplexity": "not stated",
        **_sizes(layers),
    }
    if about.perplexity is not None:
        rows["held-out perplexity"] = f"{about.perplexity:.1f}"
    table = [f"| {key} | {_cell(value)} |" for key, value in rows.items()]
    card = ModelCard.from_template(
        _data(layers, language, about.license),
        template_str=_TEXT,
        name=" ".join(name.split()),
        kind=_kind(layers),
        table="\n".join(table),
        address=ADDRESS,
    )
    return f"{card}\n"


def is_own_card(file: Path) -> bool:
    """Whether a README.md is a model card of this package."""
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return False
    return lines[:1] == ["---"] and f"library_name: {_LIBRARY}" in lines


def _data(layers: Layers, language: str | None, license: str | None) -> Any:
    """What the hub reads of a card: its `ModelCardData`."""
    from huggingface_hub import ModelCardData

    of_bilm: dict[str, Any] = {}
    if isinstance(layers.source, BiLM):
        of_bilm["library_name"] = _LIBRARY
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
        options = layers.source.options
        filters = sum([count for _, count in options.filters])
        rows["architecture"] = (
            f"character CNN of {filters:,} filters, {options.n_highway} highway layers, {options.n_layers} LSTM layers "
            f"each way of {options.dim:,} units projected to {options.projection_dim:,}"
        )
        rows["parameters"] = f"{options.n_parameters:,}"
        rows["bytes read of a word"] = str(options.max_characters_per_token - 2)
    return rows


def _cell(text: str) -> str:
    """A text as a cell of a table in Markdown: one line, without its separator."""
    return " ".join(text.split()).replace("|", "\\|")


_TEXT = """\
---
{{ card_data }}
---

# {{ name }}

{{ kind }}, for vectors of words that depend on their sentence. It repeats what its text says, biases included.

| | |
|---|---|
{{ table }}

With the package elmo-tasks:

```python
from elmo_tasks.elmo import Elmo

elmo = Elmo.from_pretrained("{{ address }}")  # or the path of this folder
vectors = elmo.embed([["It", "ended", "."]])  # a list of arrays, one for each sentence
```
"""
