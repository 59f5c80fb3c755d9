"""
The two settings that every config reads: the scale of a run and the root of its data.

Both are environment variables, which AllenNLP hands to Jsonnet as external variables.
`apply_defaults` gives them their defaults, so that a config can read them whether or not the user
set them.
"""

import logging
import multiprocessing
import os
import shlex
from pathlib import Path

from elmo_tasks.errors import InputError

logger = logging.getLogger(__name__)

SCALES = ("mini", "small", "paper")

SCALE_VARIABLE = "ELMO_TASKS_SCALE"
DATA_VARIABLE = "ELMO_TASKS_DATA"
FIXTURES_VARIABLE = "ELMO_TASKS_FIXTURES"

DEFAULT_VARIABLE = "ELMO_TASKS_DATA_DEFAULT"
"""Holds the data root while it is our default: no choice of the user's for a child process."""


def scale() -> str:
    """
    The scale of the run: `mini` (the default), `small` or `paper`.

    # Raises

    InputError
        if `ELMO_TASKS_SCALE` holds anything else.
    """
    value = _given_scale()
    if value not in SCALES:
        raise InputError(f"{SCALE_VARIABLE} must be one of {', '.join(SCALES)}, not {value!r}")
    return value


def _given_scale() -> str:
    return os.environ.get(SCALE_VARIABLE) or SCALES[0]


def fixtures_root() -> Path:
    """The absolute folder of the embedded files: in the wheel, else in the source tree."""
    package = Path(__file__).resolve().parent
    installed = package / "_fixtures"
    return installed if installed.is_dir() else package.parent / "fixtures"


def bilm_files(options_file: str | None, weight_file: str | None) -> tuple[str, str]:
    """
    The options and the weights that a command was given; those of the embedded biLM where it was given neither.

    # Raises

    `InputError`
        If it was given only one.
    """
    if (options_file is None) != (weight_file is None):
        raise InputError("--options-file and --weight-file belong together, only one is given")
    folder = fixtures_root() / "bilm"
    return options_file or str(folder / "options.json"), weight_file or str(folder / "weights.hdf5")


def data_root() -> Path | None:
    """
    The absolute root of the corpora, or `None` where it has to be set and is not.

    Only `mini` has a default, the synthetic corpus: at `small` and `paper` an unset root must
    stay an error.
    """
    value = os.environ.get(DATA_VARIABLE, "")
    if value and value != os.environ.get(DEFAULT_VARIABLE):
        return Path(value).expanduser().absolute()
    return fixtures_root() / "miniworld" if _given_scale() == SCALES[0] else None


def apply_defaults() -> None:
    """
    Writes scale, data root and fixtures root into `os.environ`, the paths absolute; an unknown data
    root becomes `""`. A scale that is none stays as it is: every config that reads it says so, and
    what does not, such as `allennlp --help`, goes on.
    """
    root = data_root()
    given = os.environ.get(DATA_VARIABLE, "") not in ("", os.environ.get(DEFAULT_VARIABLE))
    os.environ[SCALE_VARIABLE] = _given_scale()
    os.environ[DATA_VARIABLE] = "" if root is None else str(root)
    os.environ[FIXTURES_VARIABLE] = str(fixtures_root())
    os.environ.pop(DEFAULT_VARIABLE, None)
    if root is not None and not given:
        os.environ[DEFAULT_VARIABLE] = str(root)


def assignments() -> list[str]:
    """Scale and data root as far as the user chose them, in the form that precedes a command in a shell."""
    chosen = {SCALE_VARIABLE: _given_scale()} if _given_scale() != SCALES[0] else {}
    root = os.environ.get(DATA_VARIABLE, "")
    if root not in ("", os.environ.get(DEFAULT_VARIABLE)):
        chosen[DATA_VARIABLE] = root
    return [f"{name}={shlex.quote(value)}" for name, value in chosen.items()]


def announce() -> None:
    """Logs scale and data root, once per run: worker processes keep silent."""
    if multiprocessing.parent_process() is None:
        logger.info("scale: %s (%s)", _given_scale(), SCALE_VARIABLE)
        logger.info("data root: %s (%s)", data_root() or "not set", DATA_VARIABLE)
