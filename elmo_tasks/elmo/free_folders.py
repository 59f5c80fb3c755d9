"""
Which folders and repositories a model may be written to: those that are read as this
model afterwards.
"""

from collections.abc import Callable, Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from elmo_tasks.elmo.manylangs import ENCODER
from elmo_tasks.elmo.model_kinds import is_of_a_run, parts_of_models
from elmo_tasks.elmo.source_types import INFERRED, MANYLANGS, SOURCES
from elmo_tasks.errors import InputError
from elmo_tasks.files import check_output_path
from elmo_tasks.formats.fetch import fits_any
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.run_names import CONFIG, SAFETENSORS_FILE, WEIGHT_FILE

LAST = (WEIGHT_FILE, SAFETENSORS_FILE, ENCODER, CONFIG)
"""
The files of models, for `atomic_write_folder`: without those that a model has of them,
nothing reads its other files.
"""


def require_free(
    folder: Path, source: str, written: Collection[str], *, read: Sequence[str] = ()
) -> None:
    """
    Raises `InputError` if files cannot be written to a folder, or could not be read
    from there as a model of this source, because the folder contains another model or a
    run.

    # Parameters

    - `written`: the names of the files.
    - `read`: patterns of further files that are read with them if they are there.
    """
    for name in written:
        check_output_path(folder / name)
    if not folder.is_dir():
        return

    def read_config() -> Any:
        return read_json(folder / CONFIG, "the config of a model")

    names = [path.name for path in folder.iterdir()]
    in_the_way = files_in_the_way(names, source, written, read_config, read=read)
    if in_the_way is not None:
        raise InputError(
            f"expected a folder without {in_the_way}",
            file=folder,
            hint="name another folder, or remove them",
        )


def files_in_the_way(
    names: Collection[str],
    source: str,
    written: Collection[str],
    read_config: Callable[[], Any],
    *,
    read: Sequence[str] = (),
) -> str | None:
    """
    Which of the files in a folder belong to another model than the one that will be
    written there, as words for an error; `None` if there is no other model.
    """
    config = cache(read_config)
    if is_of_a_run({*names, *written}):
        return "the files of a run"
    if CONFIG in names:
        try:
            config()
        except InputError:
            return f"an unreadable {CONFIG}"
    if CONFIG in names and CONFIG in written and source in INFERRED:
        own = parts_of_models(names, config).get(source, [])
        if not own or (source != MANYLANGS and CONFIG not in own):
            return f"a {CONFIG} that is not this model's"
    stay = set(names) - set(written)
    further = [name for name in sorted(stay) if fits_any(name, read)]
    if further:
        return f"{', '.join(further)}, which would be read with the model"
    for other, parts in parts_of_models(stay, config).items():
        return f"{', '.join(parts)}, of another model ({SOURCES[other].label})"
    return None
