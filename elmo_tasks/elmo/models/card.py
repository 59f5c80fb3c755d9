"""The model card of a saved model: a README.md as the Hugging Face hub shows it."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.options import Ancestor
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.models.lineage import OPEN, ancestor_of, said_of
from elmo_tasks.formats.fetching.published import NO_RESTRICTIONS
from elmo_tasks.settings import Positive, Settings, Share, Text, checked
from elmo_tasks.system.run_names import CARD_FILE

logger = logging.getLogger(__name__)

_CODE = re.compile(r"[a-z]{2,3}")
"""What the hub accepts as a language."""

_TEMPLATE = Path(__file__).with_suffix(".md.jinja")

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
    if about == NO_CARD and kept.exists():
        return
    from huggingface_hub import ModelCard, ModelCardData

    said: dict[str, str] = {}
    origins = list(layers.ancestry)
    if layers.files is not None:
        said = said_of(layers.files)
        origins.insert(0, ancestor_of(layers.files))
    _warn_of_terms(about.license, origins)
    language = about.language or said.get("language")
    parameters = None
    of_bilm: dict[str, Any] = {}
    if isinstance(layers.source, BiLM):
        parameters = layers.source.options.n_parameters
        of_bilm["library_name"] = "elmo-tasks"
        of_bilm["tags"] = ["elmo", "bilm", "feature-extraction"]
    if language is not None and _CODE.fullmatch(language):
        of_bilm["language"] = language
    data = ModelCardData(
        license=about.license, pipeline_tag="feature-extraction", **of_bilm
    )
    card = ModelCard.from_template(
        data,
        template_path=str(_TEMPLATE),
        name=name,
        about=about,
        said=said,
        known_language=language,
        layers=layers,
        parameters=parameters,
        open=OPEN,
    )
    (folder / CARD_FILE).write_text(f"{card}\n", "utf-8")


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
