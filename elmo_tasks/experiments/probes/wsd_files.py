"""The files in a folder of word-sense data, and answers in the format of its keys."""

from collections.abc import Sequence
from pathlib import Path

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes.senses import CORPUS_HINT, DATA_SUFFIX
from elmo_tasks.experiments.probes.wsd import WsdRow
from elmo_tasks.files import atomic_write_folder

_TRAIN = ("SemCor", "Training_Corpora/SemCor")
_CONCATENATION = "ALL"


def train_file_in(folder: Path) -> Path:
    """SemCor in a folder of Raganato et al.'s layout, or directly in the folder. Raises `InputError`."""
    for below in _TRAIN:
        if (path := folder / below / f"semcor{DATA_SUFFIX}").is_file():
            return path
    raise InputError(f"expected SemCor/semcor{DATA_SUFFIX} in the folder", file=folder, hint=CORPUS_HINT)


def evaluation_files_in(folder: Path) -> list[Path]:
    """Every evaluation set of the folder except `ALL`, the concatenation of the others. Raises `InputError`."""
    files = sorted(folder.glob(f"Evaluation_Datasets/*/*{DATA_SUFFIX}"))
    found = [file for file in files if file.parent.name != _CONCATENATION]
    if not found:
        problem = f"expected Evaluation_Datasets/NAME/NAME{DATA_SUFFIX} in the folder"
        raise InputError(problem, file=folder, hint=CORPUS_HINT)
    return found


def write_answers(rows: Sequence[WsdRow], folder: Path) -> None:
    """
    Write the answers of each row for the official scorer: `senseval2.biLM-1.key.txt`, with lines `d000.s000.t000 KEY`
    for all answered instances; for several sets also `ALL.biLM-1.key.txt`, with lines `senseval2.d000.s000.t000 KEY` as
    in the published concatenation. All files are new or none; raises `InputError` if they cannot be written.
    """
    with atomic_write_folder(folder) as temporary:
        for row in rows:
            name = f"{row.name.replace(' ', '-')}.key.txt"
            sets = list(dict.fromkeys(of for of, _ in row.answers))
            for of in sets:
                (temporary / f"{of}.{name}").write_text(_lines(row, {of: ""}), "utf-8")
            if len(sets) > 1:
                prefixes = {of: f"{of}." for of in sets}
                (temporary / f"{_CONCATENATION}.{name}").write_text(_lines(row, prefixes), "utf-8")


def _lines(row: WsdRow, prefixes: dict[str, str]) -> str:
    """The answers to some sets, with a prefix for the ids of each."""
    given = ((of, id_, keys) for (of, id_), keys in row.answers.items() if keys and of in prefixes)
    return "".join(f"{prefixes[of]}{id_} {' '.join(keys)}\n" for of, id_, keys in given)
