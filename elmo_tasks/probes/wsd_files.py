"""Where a folder of word-sense data holds its files."""

from pathlib import Path

from elmo_tasks.errors import InputError
from elmo_tasks.probes.senses import CORPUS_HINT, DATA_SUFFIX

_TRAIN = ("SemCor", "Training_Corpora/SemCor")
_CONCATENATION = "ALL"


def train_file_in(folder: Path) -> Path:
    """
    SemCor in a folder of Raganato et al.'s layout, or in one that has it directly.

    # Raises

    `InputError` where it is in neither place.
    """
    found = [path for below in _TRAIN if (path := folder / below / f"semcor{DATA_SUFFIX}").is_file()]
    if not found:
        raise InputError(f"SemCor/semcor{DATA_SUFFIX} was wanted in it", file=folder, hint=CORPUS_HINT)
    return found[0]


def evaluation_files_in(folder: Path) -> list[Path]:
    """
    Every evaluation set of the folder but `ALL`, which is the others once more.

    # Raises

    `InputError` where there is none.
    """
    files = sorted(folder.glob(f"Evaluation_Datasets/*/*{DATA_SUFFIX}"))
    found = [file for file in files if file.parent.name != _CONCATENATION]
    if not found:
        raise InputError(f"Evaluation_Datasets/NAME/NAME{DATA_SUFFIX} was wanted in it", file=folder, hint=CORPUS_HINT)
    return found
