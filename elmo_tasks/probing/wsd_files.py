"""Where a folder of word-sense data holds its files, and answers in the form of its keys."""

from collections.abc import Sequence
from pathlib import Path

from elmo_tasks.atomic import atomic_write_folder
from elmo_tasks.errors import InputError
from elmo_tasks.probing.senses import CORPUS_HINT, DATA_SUFFIX
from elmo_tasks.probing.wsd import WsdRow

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


def write_answers(rows: Sequence[WsdRow], folder: Path) -> None:
    """
    Write what each row answers, for the official scorer: `senseval2.biLM-1.key.txt`, a line `d000.s000.t000 KEY` for
    each instance that has an answer; of several sets also `ALL.biLM-1.key.txt`, with lines `senseval2.d000.s000.t000
    KEY` as in the concatenation that comes with the data. All files are new or none.

    # Raises

    `InputError` where the folder cannot be written.
    """
    with atomic_write_folder(folder) as aside:
        for row in rows:
            name = f"{row.name.replace(' ', '-')}.key.txt"
            sets = list(dict.fromkeys(of for of, _ in row.answers))
            for of in sets:
                (aside / f"{of}.{name}").write_text(_lines(row, {of: ""}), "utf-8")
            if len(sets) > 1:
                (aside / f"{_CONCATENATION}.{name}").write_text(_lines(row, {of: f"{of}." for of in sets}), "utf-8")


def _lines(row: WsdRow, prefixes: dict[str, str]) -> str:
    """The answers to some sets, whose ids get a prefix."""
    given = ((of, id_, keys) for (of, id_), keys in row.answers.items() if keys and of in prefixes)
    return "".join(f"{prefixes[of]}{id_} {' '.join(keys)}\n" for of, id_, keys in given)
