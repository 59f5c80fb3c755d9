"""What an archive contains, and what else it needs, without building its model."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.models import Model
from allennlp.models.archival import get_weights_path

from elmo_tasks.elmo.models.record import found_files
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


def describe(file: str | Path, local: Mapping[str, str]) -> dict[str, Any]:
    """
    The names of its `model`, `dataset_reader` and `predictor`; the number of its
    `tensors` and of the `numbers` in them; the version of `allennlp`; the size of each
    `vocabulary`; and its `needs`: what each is (`what`), its `name`, and where it is
    `found`, or else an `advice`. Names and versions that are not known are None.

    Raises `InputError` if the archive is damaged or unsafe, or a class in its config is
    not registered; `local` is that of `load_archive`.
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
        external = ExternalFiles(local, state, folder, offline=True)
        values = config.as_dict(quiet=True)
        external.resolved(values)
        needed = []
        for name, path in external.found.items():
            needed.append(_need("file", name, str(path)))
        for name, what in external.missing.items():
            advice = f"NOT FOUND: --local {name}=PATH"
            needed.append(_need(f"the {what}", name, None, advice))
        for what, name, there in found_files(folder):
            if there is None:
                advice = "NOT FOUND: restore it, or -o names it where it is"
                needed.append(_need(what, name, None, advice))
            elif not there.is_relative_to(folder):  # a copy in the archive
                needed.append(_need(what, name, str(there)))
        needs_tags = predictor in NEED_TAGS
        if needs_tags or splits_text(values["dataset_reader"], predictor):
            needed.append(_spacy(needs_tags))
        return {
            "model": kind,
            "numbers": count,
            "tensors": len(state),
            "dataset_reader": config["dataset_reader"]["type"],
            "predictor": predictor,
            "allennlp": _version(folder),
            "vocabulary": _vocabulary(folder / VOCABULARY),
            "needs": needed,
        }


def _size(value: Any) -> int:
    return int(value.numel()) if hasattr(value, "numel") else 0


def _need(
    what: str, name: str, found: str | None, advice: str | None = None
) -> dict[str, str | None]:
    return {"what": what, "name": name, "found": found, "advice": advice}


def _version(folder: Path) -> str | None:
    try:
        return str(json.loads((folder / META).read_text("utf-8"))["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _vocabulary(folder: Path) -> dict[str, int]:
    """The number of words in each namespace."""
    counts = {}
    for path in sorted(folder.glob("*.txt")):
        if path.name != "non_padded_namespaces.txt":
            counts[path.stem] = len(path.read_bytes().splitlines())
    return counts


def _spacy(needs_tags: bool) -> dict[str, str | None]:
    """What the predictor's need for spaCy's model comes to."""
    from spacy.util import is_package

    if is_package(DEFAULT_MODEL):
        return _need("spaCy's", DEFAULT_MODEL, "installed")
    advice = f"python -m spacy download {DEFAULT_MODEL}"
    if needs_tags:
        advice = f"NOT INSTALLED: {advice}"
    else:
        advice = f"not installed: its rules split texts; {advice}"
    return _need("spaCy's", DEFAULT_MODEL, None, advice)
