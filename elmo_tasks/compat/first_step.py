"""Folders of runs that took no step: their mark, and what such a folder may hold."""

import functools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from allennlp.data import Vocabulary
from allennlp.data.vocabulary import NAMESPACE_PADDING_FILE
from allennlp.models import archival
from torch.optim.optimizer import register_optimizer_step_pre_hook

from elmo_tasks.atomic import leftovers
from elmo_tasks.compat.run_lock import LOCK

MARK = ".no_step"
"""A file in a run's folder until the first optimizer step. It lists the files of the vocabulary that the run wrote."""

FILES = {MARK, LOCK, archival.CONFIG_NAME, archival.META_NAME, "out.log"}

VOCABULARY = "vocabulary"
LOCK_FILE = ".lock"
"""AllenNLP's, in the folder of a vocabulary."""

_marks: set[Path] = set()
"""The mark of the training that this process has begun."""


def mark(folder: Path) -> None:
    """Marks the folder of a training that begins in this process."""
    path = (folder / MARK).absolute()
    path.touch()
    _marks.add(path)


def note_vocabulary(vocabulary: Vocabulary, directory: str) -> None:
    """Lists the files that the vocabulary of this process's run is about to write in the mark of the run."""
    names = [LOCK_FILE, NAMESPACE_PADDING_FILE, *(f"{name}.txt" for name in vocabulary._index_to_token)]
    for path in _marks:
        if Path(directory).absolute() == path.parent / VOCABULARY:
            path.write_text("".join(f"{name}\n" for name in names), "utf-8")


def watch_vocabularies() -> None:
    """Lists the files of each vocabulary that AllenNLP writes."""
    save = Vocabulary.save_to_files

    @functools.wraps(save)
    def save_to_files(self: Vocabulary, directory: str) -> None:
        note_vocabulary(self, directory)
        save(self, directory)

    Vocabulary.save_to_files = save_to_files


def forget_mark() -> None:
    """Leaves the mark of a training that failed before its first step in its folder."""
    _marks.clear()


def remove_mark(*_: Any) -> None:
    """Removes the mark, if there is one: before the first step of any optimizer of this process, or at the end."""
    while _marks:
        _marks.pop().unlink(missing_ok=True)


def watch_optimizers() -> None:
    """Lets the first step of any optimizer of this process remove the mark."""
    register_optimizer_step_pre_hook(remove_mark)


def took_no_step(folder: Path) -> bool:
    """Whether a folder has the mark, and holds nothing but what a training writes before its first step."""
    return (folder / MARK).is_file() and all(map(is_of_the_beginning, folder.iterdir()))


def clear(folder: Path) -> None:
    """Removes everything but the lock from a folder in which no step was taken."""
    for path in folder.iterdir():
        if path.name == LOCK:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def is_of_the_beginning(path: Path) -> bool:
    """Whether a file or a folder in a run's folder is of those that a training writes before its first step."""
    if path.name == VOCABULARY:
        mark = path.parent / MARK
        written = mark.read_text("utf-8").splitlines() if mark.is_file() else []
        return _is_folder_of(path, lambda part: _is_file(part) and part.name in written)
    if path.name == "log":
        return _is_folder_of(path, lambda part: _is_folder_of(part, _is_of_tensorboard))
    is_half = path.name.startswith(f".{archival.CONFIG_NAME}.") and path in leftovers(path.parent)
    return _is_file(path) and (path.name in FILES or is_half)


def _is_of_tensorboard(path: Path) -> bool:
    return _is_file(path) and path.name.startswith("events.out.tfevents.")


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _is_folder_of(path: Path, is_known: Callable[[Path], bool]) -> bool:
    return path.is_dir() and not path.is_symlink() and all(map(is_known, path.iterdir()))
