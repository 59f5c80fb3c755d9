"""
The one variable that configs read, the scales, and the files that the package embeds.
"""

import os
from pathlib import Path

from elmo_tasks.system.run_names import OPTIONS_FILE, WEIGHT_FILE

DATA_VARIABLE = "ELMO_TASKS_DATA"
"""Names the data root, which has the corpora of the scales `small` and `paper`."""

SCALES = ("mini", "small", "paper")


def data_root() -> Path | None:
    """The absolute folder that `ELMO_TASKS_DATA` names, or `None`."""
    given = os.environ.get(DATA_VARIABLE)
    if not given:
        return None
    return Path(given).expanduser().absolute()


def fixtures_root() -> Path:
    """
    The absolute folder of the bundled corpus and biLM, in the wheel or in the source
    tree.
    """
    return _embedded("fixtures")


def configs_root() -> Path:
    """
    The absolute folder of the configs; Jsonnet finds the embedded files beside it.
    """
    return _embedded("training_config")


def scale_folder(root: Path, scale: str) -> Path:
    """Where the configs of a scale are: those of `mini` beside the other folders."""
    if scale == SCALES[0]:
        return root
    return root / scale


def embedded_bilm() -> tuple[Path, Path]:
    """Options and weights of the biLM that the package embeds."""
    folder = fixtures_root() / "bilm"
    return folder / OPTIONS_FILE, folder / WEIGHT_FILE


def _embedded(name: str) -> Path:
    package = Path(__file__).resolve().parent
    installed = package / "_files" / name
    if installed.is_dir():
        return installed
    return package.parent / name
