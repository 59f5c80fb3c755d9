"""
The data of a run, as they were when it began.

A run records the SHA-256 of the files that its data paths name. It is resumed only with
the same data.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elmo_tasks.errors import InputError
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.system.files import file_sha256, write_text
from elmo_tasks.system.run_names import INPUTS
from elmo_tasks.training.checks.files import data_files

_MOST_BYTES = 2**28

Inputs = dict[str, str]
"""The SHA-256 of each file, by its path as in the config."""


def digests(files: list[Path]) -> Inputs:
    """The SHA-256 of files. Reads all, about a minute for 25 GB."""
    return {str(file): file_sha256(file) for file in files}


def record_inputs(folder: Path, config: Mapping[str, Any]) -> None:
    """Records the data of a run in its folder."""
    found = digests(data_files(config))
    write_text(folder / INPUTS, json.dumps(found, indent=1) + "\n")


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
