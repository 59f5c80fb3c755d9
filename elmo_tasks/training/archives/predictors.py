"""The predictors of archives, and what AllenNLP's own say of a bad input."""

from typing import Any

from allennlp.models.archival import Archive
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError
from elmo_tasks.formats.json_files import require_object
from elmo_tasks.training.archives.loading import spacy_downloads
from elmo_tasks.training.archives.opener import opener_of


def default_predictor(archive: Archive) -> str | None:
    """The registered name of the predictor that an archive's model has by default."""
    stated = archive.model.default_predictor
    return None if stated is None else str(stated)


def predictor_of(
    archive: Archive,
    name: str | None = None,
    *,
    allow_downloads: bool = False,
) -> Predictor:
    """
    The archive's default predictor, or the one of this registered name. Raises
    `InputError` if it lacks what it needs to read raw text.
    """
    name = name or default_predictor(archive)
    opener = opener_of(archive.config)
    with spacy_downloads(allowed=allow_downloads):
        if opener is None:
            return Predictor.from_archive(archive, name)
        return opener.predictor(archive, name, allow_downloads=allow_downloads)


def predicted(predictor: Predictor, data: Any) -> dict[str, Any]:
    """
    The output of a predictor of AllenNLP for an input. Raises `InputError` if the input
    is no object, or lacks a key that the predictor reads.
    """
    require_object(data)
    try:
        outputs: dict[str, Any] = predictor.predict_json(data)
    except KeyError as error:
        if error.args and error.args[0] not in data and isinstance(error.args[0], str):
            raise InputError(f"expected the key {error.args[0]!r}") from error
        raise
    return outputs
