"""`elmo_tasks.load`: a trained task model, for predictions in Python."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elmo_tasks.elmo.devices import AUTO, cuda_number, opened_device
from elmo_tasks.errors import InputError
from elmo_tasks.host import register_classes
from elmo_tasks.settings import PathLike, checked


@checked
def load(
    model: PathLike,
    *,
    device: str | int | None = AUTO,
    packages: Sequence[str] = (),
    overrides: Mapping[str, Any] | None = None,
    allow_downloads: bool = False,
) -> Any:
    """
    The predictor of a trained task model. Its `predict` takes the keys that a line of
    `elmo-tasks predict` has, and gives the same output:

    >>> tagger = load("out/ner_elmo")  # doctest: +SKIP
    >>> tagger.predict(sentence="Captain Halloran sailed .")["tags"]  # doctest: +SKIP
    ['B-PER', 'L-PER', 'O', 'O']

    # Parameters

    - `model`: a `model.tar.gz`, its URL, or the folder of a run.
    - `device`: as of `Elmo.from_pretrained`.
    - `packages`: Python packages that register more classes.
    - `overrides`: keys of the model's config with other values, as `-o` of the commands:
      `{"model.elmo.model": "FOLDER"}` says where its biLM is now.
    - `allow_downloads`: if true, what the model's config names is downloaded.

    Raises `InputError` if the archive is damaged or unsafe, needs a download, or names
    no predictor.
    """
    number = cuda_number(opened_device(device))
    register_classes(packages)
    from elmo_tasks.training.archives.loading import explained, load_archive
    from elmo_tasks.training.archives.predictors import default_predictor, predictor_of

    file = str(model)
    if "://" not in file and not Path(file).exists():
        raise InputError("expected an archive or the folder of a run", file=file)
    archive = load_archive(
        file,
        cuda_device=number,
        overrides=json.dumps(overrides) if overrides else "",
        allow_downloads=allow_downloads,
    )
    if default_predictor(archive) is None:
        hint = "set default_predictor in the class of the model"
        raise InputError("the model names no predictor", file=model, hint=hint)
    with explained(file):
        return predictor_of(archive, allow_downloads=allow_downloads)
