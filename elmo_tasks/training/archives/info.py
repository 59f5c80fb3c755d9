"""What an archive contains, and what else it needs, without building its model."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.models import Model
from allennlp.models.archival import get_weights_path

from elmo_tasks.system.run_names import CONFIG, META, VOCABULARY
from elmo_tasks.training.archives.contents import unpacked
from elmo_tasks.training.archives.loading import (
    explained,
    require_registered,
    required_state,
)
from elmo_tasks.training.archives.old.blank_spacy import (
    DEFAULT_MODEL,
    NEED_TAGS,
    splits_text,
)
from elmo_tasks.training.archives.old.external_files import ExternalFiles
from elmo_tasks.training.archives.predictors import OF_MODELS
from elmo_tasks.training.archives.registered_names import registered_alone


def describe(file: str | Path, local: Mapping[str, str]) -> Iterator[str]:
    """
    Lines about an archive. Raises `InputError` if it is damaged or unsafe, or a class in
    its config is not registered; `local` is that of `load_archive`.
    """
    with (
        unpacked(file) as folder,
        explained(file),
        registered_alone(file),
    ):
        config = Params.from_file(folder / CONFIG)
        state = required_state(Path(get_weights_path(folder)), file)
        require_registered(config, file)
        kind = config["model"]["type"]
        predictor = Model.by_name(kind).default_predictor or OF_MODELS.get(kind)
        count = sum([_size(value) for value in state.values()])
        yield f"model: {kind}, {count:,} numbers in {len(state):,} tensors"
        yield f"dataset reader: {config['dataset_reader']['type']}"
        yield f"predictor: {predictor or 'none, so predict needs --use-dataset-reader'}"
        yield f"trained with: AllenNLP {_version(folder)}"
        yield f"vocabulary: {_vocabulary(folder / VOCABULARY)}"
        external = ExternalFiles(local, state, folder, offline=True)
        values = config.as_dict(quiet=True)
        external.resolved(values)
        for name, path in external.found.items():
            yield f"needs: {name}, found: {path}"
        for name, what in external.missing.items():
            yield f"needs: the {what} {name}, NOT FOUND: --local {name}=PATH"
        needs_tags = predictor in NEED_TAGS
        if needs_tags or splits_text(values["dataset_reader"], predictor):
            yield f"needs: {_spacy(needs_tags)}"


def _size(value: Any) -> int:
    return int(value.numel()) if hasattr(value, "numel") else 0


def _version(folder: Path) -> str:
    try:
        return str(json.loads((folder / META).read_text("utf-8"))["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return "(unknown version)"


def _vocabulary(folder: Path) -> str:
    counts = []
    for path in sorted(folder.glob("*.txt")):
        if path.name != "non_padded_namespaces.txt":
            lines = len(path.read_bytes().splitlines())
            counts.append(f"{path.stem} {lines:,}")
    return ", ".join(counts) or "empty"


def _spacy(needs_tags: bool) -> str:
    """What the predictor's need for spaCy's model comes to."""
    from spacy.util import is_package

    if is_package(DEFAULT_MODEL):
        return f"spaCy's {DEFAULT_MODEL}, installed"
    advice = f"python -m spacy download {DEFAULT_MODEL}"
    if needs_tags:
        return f"spaCy's {DEFAULT_MODEL}, NOT INSTALLED: {advice}"
    return f"spaCy's {DEFAULT_MODEL}, not installed: its rules split texts; {advice}"
