"""The predictors of archives."""

from allennlp.models.archival import Archive
from allennlp.predictors import Predictor

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
    reads_text: bool = True,
) -> Predictor:
    """
    The archive's default predictor, or the one of this registered name. Raises
    `InputError` if it has to read raw text and lacks what it needs for that.
    """
    name = name or default_predictor(archive)
    opener = opener_of(archive.config)
    with spacy_downloads(allowed=allow_downloads):
        if opener is None:
            return Predictor.from_archive(archive, name)
        return opener.predictor(
            archive, name, allow_downloads=allow_downloads, reads_text=reads_text
        )
