"""
The settings that every config reads: the scale of a run and the root of its data.

They are environment variables, which AllenNLP passes to Jsonnet as external variables. `apply_defaults` sets their
defaults.
"""

import json
import logging
import multiprocessing
import os
from pathlib import Path

from elmo_tasks.corpora import official_names
from elmo_tasks.errors import InputError

logger = logging.getLogger(__name__)

SCALES = ("mini", "small", "paper")

SCALE_VARIABLE = "ELMO_TASKS_SCALE"
DATA_VARIABLE = "ELMO_TASKS_DATA"
FIXTURES_VARIABLE = "ELMO_TASKS_FIXTURES"

DEFAULT_VARIABLE = "ELMO_TASKS_DATA_DEFAULT"
"""The data root, if it is the default: child processes must not take it for a choice of the user."""

NAMES_VARIABLE = "ELMO_TASKS_NAMES"
"""A JSON object: names of data files as configs have them, and the official names under which they were found."""


def scale() -> str:
    """The scale of the run: `mini` (the default), `small` or `paper`. Raises `InputError` for another value."""
    value = _given_scale()
    if value not in SCALES:
        raise InputError(f"{SCALE_VARIABLE}: expected one of {', '.join(SCALES)}, got {value!r}")
    return value


def _given_scale() -> str:
    return os.environ.get(SCALE_VARIABLE) or SCALES[0]


def fixtures_root() -> Path:
    """The absolute folder of the embedded files, in the wheel or in the source tree."""
    package = Path(__file__).resolve().parent
    installed = package / "_fixtures"
    return installed if installed.is_dir() else package.parent / "fixtures"


def bilm_files(options_file: str | None, weight_file: str | None) -> tuple[str, str]:
    """
    The arguments of a command, or the files of the scale's biLM if it has none: the released one below the data root at
    `paper`, else the embedded one. Raises `InputError` if only one is given.
    """
    if (options_file is None) != (weight_file is None):
        raise InputError("expected both --options-file and --weight-file, got only one")
    if options_file is not None and weight_file is not None:
        return options_file, weight_file
    root = None if scale() != "paper" else data_root()
    names = official_names(root) if root is not None else {}
    options, weights = (
        str((root or fixtures_root()) / names.get(name, name)) for name in ("bilm/options.json", "bilm/weights.hdf5")
    )
    return options, weights


def data_root() -> Path | None:
    """The absolute root of the corpora, or `None`. Only `mini` has a default, the synthetic corpus."""
    if not data_is_default():
        return Path(os.environ[DATA_VARIABLE]).expanduser().absolute()
    return fixtures_root() / "miniworld" if _given_scale() == SCALES[0] else None


def data_is_default() -> bool:
    """Whether the user has chosen no data root."""
    return os.environ.get(DATA_VARIABLE, "") in ("", os.environ.get(DEFAULT_VARIABLE))


def apply_defaults() -> None:
    """
    Writes scale, data root and fixtures root into `os.environ`, with absolute paths; an unset data root becomes `""`.
    An invalid scale is not changed: it is an error in each config that reads it, and only there.
    """
    root = data_root()
    given = not data_is_default()
    os.environ[SCALE_VARIABLE] = _given_scale()
    os.environ[DATA_VARIABLE] = "" if root is None else str(root)
    os.environ[FIXTURES_VARIABLE] = str(fixtures_root())
    os.environ[NAMES_VARIABLE] = json.dumps(official_names(root) if given and root is not None else {})
    os.environ.pop(DEFAULT_VARIABLE, None)
    if root is not None and not given:
        os.environ[DEFAULT_VARIABLE] = str(root)


def announce() -> None:
    """Logs scale and data root, except in worker processes."""
    if multiprocessing.parent_process() is None:
        logger.info("scale: %s (%s)", _given_scale(), SCALE_VARIABLE)
        logger.info("data root: %s (%s)", data_root() or "not set", DATA_VARIABLE)
