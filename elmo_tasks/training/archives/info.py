"""What an archive contains, and what else it needs, without building its model."""

import json
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
from elmo_tasks.training.archives.opener import opener_of
from elmo_tasks.training.archives.outside import constructed
from elmo_tasks.training.archives.registered_names import registered_alone

Need = dict[str, str | None]


def describe(file: str | Path) -> dict[str, Any]:
    """
    The names of its `model`, `dataset_reader` and `predictor`; the number of its
    `tensors` and of the `numbers` in them; the version of `allennlp`; the size of each
    `vocabulary`; and its `needs`: what each is (`what`), its `name`, and where it is
    `found`, or else an `advice`. Names and versions that are not known are None.

    Raises `InputError` if the archive is damaged or unsafe, or a class in its config is
    not registered.
    """
    with (
        unpacked(file) as folder,
        explained(file),
        registered_alone(file),
    ):
        config = Params.from_file(folder / CONFIG)
        weights = Path(get_weights_path(folder))
        state = required_state(weights, file)
        require_registered(config, file)
        kind = config["model"]["type"]
        predictor = Model.by_name(kind).default_predictor
        count = 0
        for value in state.values():
            if hasattr(value, "numel"):
                count += value.numel()
        opener = opener_of(config)
        if opener is not None:
            needed = opener.needs(folder, config, weights, predictor)
        else:
            needed = []
            _, fetched = constructed(config.as_dict(quiet=True), offline=True)
            for name in fetched:
                advice = "NOT FOUND: --allow-downloads fetches it"
                needed.append(need("file", name, None, advice))
        for what, name, there in found_files(folder):
            if there is None:
                advice = "NOT FOUND: restore it, or -o names it where it is"
                needed.append(need(what, name, None, advice))
            elif not there.is_relative_to(folder):  # a copy in the archive
                needed.append(need(what, name, str(there)))
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


def need(what: str, name: str, found: str | None, advice: str | None = None) -> Need:
    """A thing that an archive needs."""
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
