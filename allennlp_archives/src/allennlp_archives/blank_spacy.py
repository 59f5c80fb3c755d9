"""
spaCy's rules in the place of its models, which the readers and predictors of archives
ask for, where a model is not installed.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

from allennlp.common import Params
from allennlp.common.util import LOADED_SPACY_MODELS
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.raw_text import blank_pipeline
from elmo_tasks.training.config import items

if TYPE_CHECKING:  # imported where it is used, since it takes long
    from spacy.language import Language
    from spacy.tokens import Doc

logger = logging.getLogger(__name__)

DEFAULT_MODEL = "en_core_web_sm"
"""The model that AllenNLP's tokenizer and predictors ask for."""

NEED_TAGS = (
    "biaffine_dependency_parser",
    "constituency_parser",
    "open_information_extraction",
    "semantic_role_labeling",
)
"""Predictors that need the parts of speech of raw text."""

SPLITTING = ("coreference_resolution", "dialog_qa", "sentence_tagger")
"""Predictors that only split raw text, into words or sentences."""

TOKENIZERS = {
    "cnn_dm": "source_tokenizer",
    "copynet_seq2seq": "source_tokenizer",
    "drop": "tokenizer",
    "qangaroo": "tokenizer",
    "quac": "tokenizer",
    "seq2seq": "source_tokenizer",
    "simple_language_modeling": "tokenizer",
    "snli": "tokenizer",
    "squad": "tokenizer",
    "sst_tokens": "tokenizer",
    "text_classification_json": "tokenizer",
    "triviaqa": "tokenizer",
}
"""Dataset readers whose texts spaCy's model splits, unless this key says otherwise."""

_WARNING = "elmo_tasks_no_model"
_MODEL = "model"


@contextmanager
def spacy_for(config: Params, *, allow_downloads: bool) -> Iterator[None]:
    """
    Inside, `rules_for_missing` for the models that a config names; with downloads
    allowed, AllenNLP downloads them.
    """
    if allow_downloads:
        yield
        return
    with rules_for_missing(_languages(config.as_dict(quiet=True))):
        yield


def _languages(value: Any) -> Iterator[str]:
    """What a config calls the language of a tokenizer."""
    for key, part in items(value):
        if key == "language" and isinstance(part, str):
            yield part
        else:
            yield from _languages(part)


def splits_text(reader: Mapping[str, Any], predictor: str | None) -> bool:
    """
    Whether spaCy's model splits raw text for a predictor, or for the dataset reader of
    this config.
    """
    if predictor in SPLITTING:
        return True
    key = TOKENIZERS.get(reader["type"])
    if key is None:
        return False
    tokenizer = reader.get(key)
    if isinstance(tokenizer, Mapping):
        tokenizer = tokenizer.get("type")
    return tokenizer in (None, "spacy")


@contextmanager
def rules_for_missing(models: Iterable[str] = ()) -> Iterator[None]:
    """
    Inside, AllenNLP gets spaCy's rules for the language of each of the models, and of
    `en_core_web_sm`, that is not installed. They split texts into words as the model
    does, and into sentences at punctuation, and know no parts of speech. At the first
    text, one warning says so.
    """
    added = []
    for name in sorted({DEFAULT_MODEL, *models}):
        if not _is_missing(name):
            continue
        rules = _rules(name)
        for options in product((True, False), repeat=3):
            if (name, *options) not in LOADED_SPACY_MODELS:
                LOADED_SPACY_MODELS[name, *options] = rules
                added.append((name, *options))
    try:
        yield
    finally:
        for key in added:
            LOADED_SPACY_MODELS.pop(key, None)


def require_tags(predictor: Predictor) -> None:
    """
    Raises `InputError` for a predictor that needs parts of speech and has only rules.
    """
    pipeline = getattr(getattr(predictor, "_tokenizer", None), "spacy", None)
    if pipeline is None:
        return
    from spacy.language import Language

    if not isinstance(pipeline, Language) or not pipeline.has_pipe(_WARNING):
        return
    for name in NEED_TAGS:
        if name in Predictor.list_available() and isinstance(
            predictor, Predictor.by_name(name)
        ):
            model = pipeline.meta[_MODEL]
            raise InputError(
                f"the predictor {name} needs parts of speech, for which spaCy's model "
                f"{model} is not installed",
                hint=f"python -m spacy download {model}; `evaluate` reads a file with "
                "parts of speech",
            )


def _is_missing(name: str) -> bool:
    """Whether a name is that of a model of spaCy that is not installed."""
    from spacy.util import is_package

    language, *parts = name.split("_")
    return len(parts) == 3 and language.isalpha() and not is_package(name)


@cache
def _rules(name: str) -> "Language":
    """A pipeline of rules in the place of a model."""
    from spacy.language import Language

    Language.factory(_WARNING, default_config={_MODEL: DEFAULT_MODEL}, func=_warning)
    pipeline = blank_pipeline(name.partition("_")[0])
    pipeline.meta[_MODEL] = name
    pipeline.add_pipe("sentencizer")
    pipeline.add_pipe(_WARNING, config={_MODEL: name})
    return pipeline


def _warning(nlp: "Language", name: str, model: str) -> Any:
    """A part of a pipeline that changes nothing."""

    def warn(document: "Doc") -> "Doc":
        _warn(model)
        return document

    return warn


@cache
def _warn(model: str) -> None:
    """Warns once."""
    logger.warning(
        "spaCy's model %s is not installed: its rules split texts into words, and there "
        "are no parts of speech; python -m spacy download %s installs it",
        model,
        model,
    )
