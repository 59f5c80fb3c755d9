"""
The data of a run, as they were when it began.

A run records the SHA-256 of the files that its data paths name. It is resumed only with
the same data.
"""

import glob
import json
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from elmo_tasks.errors import InputError
from elmo_tasks.formats.corpora import located
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.system.files import file_sha256, write_text
from elmo_tasks.system.run_names import INPUTS
from elmo_tasks.training.nested import get, strings

logger = logging.getLogger(__name__)

DATA_PATHS = ("train_data_path", "validation_data_path", "test_data_path")

REMOTE = re.compile(r"\w+://|\(")
"""URLs, and members of archives."""

_MOST_BYTES = 2**28

Inputs = dict[str, str]
"""The SHA-256 of each file, by its path as in the config."""


def digests(files: list[Path]) -> Inputs:
    """The SHA-256 of files. Reads all, about a minute for 25 GB."""
    return {str(file): file_sha256(file) for file in files}


def data_files(
    config: Mapping[str, Any], keys: Iterable[str] = DATA_PATHS
) -> list[Path]:
    """
    The files on this machine that the data paths of a config name; of a folder, all but
    hidden ones.
    """
    found: set[Path] = set()
    for key in keys:
        for _, name in strings(key, config.get(key)):
            if not REMOTE.match(name):
                found.update(_files(located(name)))
    return sorted(found)


def _files(name: str) -> Iterator[Path]:
    """The files with a name or of a pattern, and those in its folders."""
    names = [name] if os.path.exists(name) else glob.glob(name, recursive=True)
    if not names:
        archive, _, _ = name.partition("!")  # of a member
        names = glob.glob(glob.escape(archive))
    for path in map(Path, names):
        if path.is_file():
            yield path
        for file in path.rglob("[!.]*"):
            parts = file.relative_to(path).parts
            if file.is_file() and not any(part.startswith(".") for part in parts):
                yield file


def record_inputs(folder: Path, config: Mapping[str, Any]) -> None:
    """
    Records the data of a run in its folder. Warns of a file that is also training data:
    its scores are not those of new text. With `part`, loaders divide one file.
    """
    found = digests(data_files(config))
    write_text(folder / INPUTS, json.dumps(found, indent=1) + "\n")
    if get(config, "data_loader.part") is not None:
        return
    training = [found[str(file)] for file in data_files(config, DATA_PATHS[:1])]
    for key in DATA_PATHS[1:]:
        for file in data_files(config, [key]):
            if found[str(file)] in training:
                logger.warning("%s: %s has the text of the training data", key, file)


def recorded_inputs(folder: Path) -> Inputs:
    """The data that the run in a folder began with. Raises `InputError` without them."""
    found: Inputs = read_json(
        folder / INPUTS, "the record of the run's data", most_bytes=_MOST_BYTES
    )
    return found


def require_same_data(folder: Path, config: Mapping[str, Any]) -> None:
    """
    Raises `InputError` if the data are not those that the run in this folder began with,
    or without the record of them.
    """
    recorded = recorded_inputs(folder)
    present = digests(data_files(config))
    changed = []
    for name in sorted({*recorded, *present}):
        if recorded.get(name) != present.get(name):
            changed.append(name)
    if changed:
        problem = f"other data than the run began with: {', '.join(changed)}"
        hint = "restore these files, or start another run"
        raise InputError(problem, file=folder, hint=hint)
