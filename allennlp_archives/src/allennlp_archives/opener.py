"""
The entry point that `elmo-tasks` loads: how it opens an archive of AllenNLP or
allennlp-models, whose classes are registered when this is imported.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.data import DatasetReader, Instance
from allennlp.data.tokenizers import SpacyTokenizer
from allennlp.models import Model
from allennlp.models.archival import Archive
from allennlp.predictors import Predictor, TextClassifierPredictor
from overrides import overrides

from allennlp_archives.blank_spacy import (
    DEFAULT_MODEL,
    NEED_TAGS,
    require_tags,
    spacy_for,
    splits_text,
)
from allennlp_archives.external_files import ExternalFiles
from allennlp_archives.fast_elmo import use_fast_elmo
from allennlp_archives.options import LOCAL, is_fast, local_paths
from allennlp_archives.pages import PAGES
from allennlp_archives.registering import register
from allennlp_archives.trees import read_from_anywhere
from allennlp_archives.weights import without_constants, write_state
from elmo_tasks.system.run_names import WEIGHTS
from elmo_tasks.training.archives.info import Need, need
from elmo_tasks.training.archives.loading import built, required_state, sized_as

register()


def load(
    folder: Path,
    config: Params,
    weights: Path,
    *,
    file: str | Path,
    cuda_device: int,
    allow_downloads: bool,
) -> Archive:
    """
    The archive `file`, which is unpacked in `folder`. Raises `InputError` if it needs
    what is not on this machine, and as `built` does.
    """
    state = required_state(weights, file)
    external = ExternalFiles(local_paths(), state, folder, offline=not allow_downloads)
    with sized_as(weights, state):
        values = external.resolved(config.as_dict(quiet=True))
    external.require_all(file)
    kept = without_constants(state)
    if len(kept) < len(state):
        weights = folder / WEIGHTS
        write_state(kept, weights)
    with spacy_for(config, allow_downloads=allow_downloads), _quiet_transformers():
        loaded = built(folder, values, weights, file=file, cuda_device=cuda_device)
    read_from_anywhere(loaded.dataset_reader)
    read_from_anywhere(loaded.validation_dataset_reader)
    if is_fast():
        use_fast_elmo(loaded.model)
    return loaded


def needs(
    folder: Path, config: Params, weights: Path, predictor: str | None
) -> list[Need]:
    """Transformers, files of ELMo and spaCy's model."""
    state = required_state(weights, weights)
    external = ExternalFiles(local_paths(), state, folder, offline=True)
    values = config.as_dict(quiet=True)
    external.resolved(values)
    found = []
    for name, path in external.found.items():
        found.append(need("file", name, str(path)))
    for name, what in external.missing.items():
        advice = f"""NOT FOUND: {LOCAL}='{{"{name}": PATH}}'"""
        found.append(need(f"the {what}", name, None, advice))
    needs_tags = predictor in NEED_TAGS
    if needs_tags or splits_text(values["dataset_reader"], predictor):
        found.append(_spacy(needs_tags))
    return found


def _spacy(needs_tags: bool) -> Need:
    """What the predictor's need for spaCy's model comes to."""
    from spacy.util import is_package

    if is_package(DEFAULT_MODEL):
        return need("spaCy's", DEFAULT_MODEL, None, "installed")
    advice = f"python -m spacy download {DEFAULT_MODEL}"
    if needs_tags:
        advice = f"NOT INSTALLED: {advice}"
    else:
        advice = f"not installed: its rules split texts; {advice}"
    return need("spaCy's", DEFAULT_MODEL, None, advice)


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


def predictor(
    archive: Archive, name: str | None, *, allow_downloads: bool
) -> Predictor:
    """
    The archive's predictor of this registered name. Where spaCy's model is not
    installed and must not be downloaded, spaCy's rules split texts. Raises `InputError`
    if it needs the model for parts of speech.
    """
    with spacy_for(archive.config, allow_downloads=allow_downloads):
        made = Predictor.from_archive(archive, name)
        reader = made._dataset_reader
        if type(made) is TextClassifierPredictor and not _has_tokenizer(reader):
            return SplittingClassifier(made._model, reader)
    require_tags(made)
    return made


def _has_tokenizer(reader: DatasetReader) -> bool:
    """As `TextClassifierPredictor` asks."""
    for name in ("tokenizer", "_tokenizer"):
        if getattr(reader, name, None) is not None:
            return True
    return False


def page(predictor: str) -> dict[str, Any] | None:
    """The tab of a predictor, and the script that draws its answers."""
    if predictor not in PAGES:
        return None
    title, boxes = PAGES[predictor]
    return {
        "title": title,
        "about": "A model of AllenNLP. The answer is what its predictor returns.",
        "boxes": [(key, *box) for key, box in boxes.items()],
        "script": (files("allennlp_archives") / "answers.js").read_text("utf-8"),
    }


@contextmanager
def _quiet_transformers() -> Iterator[None]:
    """
    Inside, transformers does not warn of weights that are missing in a transformer's
    files: the archive has them.
    """
    logger = logging.getLogger("transformers.modeling_utils")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
