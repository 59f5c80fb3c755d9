"""Marks the folder of a run until its first step: such a folder can be reused."""

import functools
import shutil
from pathlib import Path
from typing import Any

from allennlp.data import Vocabulary
from allennlp.data.vocabulary import NAMESPACE_PADDING_FILE
from allennlp.models import archival
from torch.optim.optimizer import register_optimizer_step_pre_hook

from elmo_tasks.atomic import leftovers
from elmo_tasks.compat.run_lock import LOCK

MARK = ".no_step"
"""A file in the folder of a run until its first optimizer step. It lists the files of the run's vocabulary."""

FILES = {MARK, LOCK, archival.CONFIG_NAME, archival.META_NAME, "out.log"}

VOCABULARY = "vocabulary"
LOCK_FILE = ".lock"
"""AllenNLP's, in the folder of a vocabulary."""

_marks: set[Path] = set()
"""The mark of this process's run."""


def mark(folder: Path) -> None:
    """Marks the folder of a run that starts in this process."""
    path = (folder / MARK).absolute()
    path.touch()
    _marks.add(path)


def note_vocabulary(vocabulary: Vocabulary, directory: str) -> None:
    """Lists the files of a vocabulary in the mark before they are written."""
    names = [LOCK_FILE, NAMESPACE_PADDING_FILE, *(f"{name}.txt" for name in vocabulary._index_to_token)]
    for path in _marks:
        if Path(directory).absolute() == path.parent / VOCABULARY:
            path.write_text("".join(f"{name}\n" for name in names), "utf-8")


def forget_mark() -> None:
    """Keeps the mark of a run that failed before its first step."""
    _marks.clear()


def remove_mark(*_: Any) -> None:
    """Removes the mark: before the first step, or at the end."""
    while _marks:
        _marks.pop().unlink(missing_ok=True)


def watch_first_step() -> None:
    """Notes each vocabulary that is saved, and removes the mark before the first step of any optimizer."""
    register_optimizer_step_pre_hook(remove_mark)
    save = Vocabulary.save_to_files

    @functools.wraps(save)
    def save_to_files(self: Vocabulary, directory: str) -> None:
        note_vocabulary(self, directory)
        save(self, directory)

    Vocabulary.save_to_files = save_to_files


def took_no_step(folder: Path) -> bool:
    """Whether a folder has the mark, and only files that a run writes before its first step."""
    return (folder / MARK).is_file() and all(map(precedes_first_step, folder.iterdir()))


def clear(folder: Path) -> None:
    """Removes everything but the lock from such a folder."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()


def precedes_first_step(path: Path) -> bool:
    """Whether a run writes this file or folder before its first step."""
    if path.is_symlink():
        return False
    if path.name == VOCABULARY:
        mark = path.parent / MARK
        written = mark.read_text("utf-8").splitlines() if mark.is_file() else []
        return path.is_dir() and all(part.parent == path and part.name in written for part in _files_below(path))
    if path.name == "log":
        known = "events.out.tfevents."
        return path.is_dir() and all(
            part.parent.parent == path and part.name.startswith(known) for part in _files_below(path)
        )
    is_half = path.name.startswith(f".{archival.CONFIG_NAME}.") and path in leftovers(path.parent)
    return path.is_file() and (path.name in FILES or is_half)


def _files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()]
