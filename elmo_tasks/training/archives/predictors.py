"""The predictors of archives, and what AllenNLP's own say of a bad input."""

from typing import Any

from allennlp.data import DatasetReader, Instance
from allennlp.data.tokenizers import SpacyTokenizer
from allennlp.models import Model
from allennlp.models.archival import Archive
from allennlp.predictors import Predictor, TextClassifierPredictor
from overrides import overrides

from elmo_tasks.errors import InputError, shown
from elmo_tasks.training.archives.old.blank_spacy import spacy_for

OF_MODELS = {"bcn": "text_classifier"}
"""
By the registered name of a model: the predictor of models that state none, as the model
cards of allennlp-models have it.
"""


def default_predictor(archive: Archive) -> str | None:
    """The registered name of the predictor that an archive's model has by default."""
    stated = archive.model.default_predictor
    if stated is not None:
        return str(stated)
    return OF_MODELS.get(str(archive.config["model"].get("type")))


class SplittingClassifier(TextClassifierPredictor):
    """
    AllenNLP's predictor for a dataset reader that has no tokenizer, such as `sst_tokens`.
    AllenNLP loads spaCy's model at each text; here it is loaded once, with the archive.
    """

    def __init__(self, model: Model, dataset_reader: DatasetReader) -> None:
        super().__init__(model, dataset_reader)
        self._words = SpacyTokenizer()

    @overrides
    def _json_to_instance(self, json_dict: dict[str, Any]) -> Instance:
        words = self._words.tokenize(json_dict["sentence"])
        return self._dataset_reader.text_to_instance(words)


def predictor_of(
    archive: Archive, name: str | None = None, *, allow_downloads: bool = False
) -> Predictor:
    """
    The archive's default predictor, or the one of this registered name. Where spaCy's
    model is not installed and must not be downloaded, spaCy's rules split texts.
    """
    name = name or default_predictor(archive)
    with spacy_for(archive.config, name, allow_downloads=allow_downloads):
        predictor = Predictor.from_archive(archive, name)
        reader = predictor._dataset_reader
        if type(predictor) is TextClassifierPredictor and not _has_tokenizer(reader):
            return SplittingClassifier(predictor._model, reader)
        return predictor


def _has_tokenizer(reader: DatasetReader) -> bool:
    """As `TextClassifierPredictor` asks."""
    for name in ("tokenizer", "_tokenizer"):
        if getattr(reader, name, None) is not None:
            return True
    return False


def predicted(predictor: Predictor, data: Any) -> dict[str, Any]:
    """
    The output of a predictor of AllenNLP for an input. Raises `InputError` if the input
    is no object, or lacks a key that the predictor reads.
    """
    if not isinstance(data, dict):
        raise InputError(f"expected an object, got {shown(data)}")
    try:
        outputs: dict[str, Any] = predictor.predict_json(data)
    except KeyError as error:
        if error.args and error.args[0] not in data and isinstance(error.args[0], str):
            raise InputError(f"expected the key {error.args[0]!r}") from error
        raise
    return outputs
