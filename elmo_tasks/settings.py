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


_BILM = ("bilm/options.json", "bilm/weights.hdf5")


def embedded_bilm() -> tuple[Path, Path]:
    """Options and weights of the biLM that the package embeds."""
    return fixtures_root() / _BILM[0], fixtures_root() / _BILM[1]


def bilm_files() -> tuple[str, str]:
    """The biLM that a command reads by default: at `paper` the released one below the data root, else the embedded."""
    root = None if scale() != "paper" else data_root()
    if root is None:
        return str(embedded_bilm()[0]), str(embedded_bilm()[1])
    names = official_names(root)
    return str(root / names.get(_BILM[0], _BILM[0])), str(root / names.get(_BILM[1], _BILM[1]))


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
