"""A patch of `allennlp.predictors`: the default predictor of an archive."""

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from allennlp.models import Model
from allennlp.predictors import Predictor

DOWNLOADS = "sentence_tagger"
REPLACEMENT = "elmo_tasks_tagger"


def default_predictor(model: Mapping[str, Any]) -> str | None:
    """The default predictor for the `model` of an archive's config; `None` if the model has none."""
    name: str | None = Model.resolve_class_name(model["type"])[0].default_predictor
    return REPLACEMENT if name == DOWNLOADS and _has_token_embedder(model) else name


def _has_token_embedder(part: Any) -> bool:
    if isinstance(part, Mapping):
        return part.get("type") == "elmo_tasks" or _has_token_embedder(part.values())
    return isinstance(part, Iterable) and not isinstance(part, str) and any(map(_has_token_embedder, part))


def predict_without_download() -> None:
    """
    Makes `elmo_tasks_tagger` the default predictor of AllenNLP's taggers with our token embedder.

    Their default, `sentence_tagger`, downloads a spaCy model when it is constructed, even to read tokens. The patch can
    go when AllenNLP needs no download.
    """
    original = vars(Predictor)["from_archive"].__func__

    @functools.wraps(original)
    def from_archive(cls: Any, archive: Any, predictor_name: str | None = None, *arguments: Any, **options: Any) -> Any:
        name = predictor_name or default_predictor(archive.config.as_dict(quiet=True)["model"])
        return original(cls, archive, name, *arguments, **options)

    Predictor.from_archive = classmethod(from_archive)
