"""Patches of `allennlp.commands.train`: `--recover` works whenever a run was killed."""

import functools
import glob
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from allennlp.commands import train
from allennlp.common import Params
from allennlp.common import util as common_util
from allennlp.data.vocabulary import NAMESPACE_PADDING_FILE
from allennlp.models import archival
from allennlp.training import util as training_util

from elmo_tasks.atomic import atomic_write, leftovers
from elmo_tasks.compat import run_lock
from elmo_tasks.compat.params import differences
from elmo_tasks.errors import InputError


def recover_at_any_time() -> None:
    """
    Lets `--recover` resume a run that was killed at any time.

    AllenNLP creates the folder first and writes `config.json`, metrics and archive in place: after a kill there, the
    run can be neither resumed nor repeated, or looks finished. The patch can go when AllenNLP writes atomically.
    """
    training_util.create_serialization_dir = _preparing(training_util.create_serialization_dir)
    Params.to_file = _atomic(Params.to_file, place=1)
    common_util.dump_metrics = _atomic(common_util.dump_metrics, place=0)
    train.archive_model = _atomic_archive(train.archive_model)
    train.train_model = _releasing(train.train_model)


def _preparing(create: Callable[..., None]) -> Callable[..., None]:
    """`create_serialization_dir` that locks the folder."""

    @functools.wraps(create)
    def create_serialization_dir(
        params: Params, serialization_dir: str | os.PathLike[str], recover: bool, force: bool
    ) -> None:
        folder, distributed = Path(serialization_dir), params.as_dict(quiet=True).get("distributed")
        require_plain_name(folder)
        run_lock.release()
        had_folder, nodes = folder.is_dir(), distributed.get("num_nodes", 1) if isinstance(distributed, dict) else 1
        try:
            if nodes == 1 and had_folder:  # several nodes of one run would lock each other out
                run_lock.acquire(folder)
            loads_vocabulary = recover and had_folder and not force and distributed is not None
            if had_folder and not force:
                recover = has_run(folder, params, recover=recover)
            if not recover and not force:
                run_lock.release()  # AllenNLP expects an empty folder
            create(params, serialization_dir, recover, force)
            if loads_vocabulary:
                require_vocabulary(params, folder)
            if nodes == 1:
                run_lock.acquire(folder)
        except BaseException:
            run_lock.release()
            raise

    return create_serialization_dir


def require_plain_name(folder: Path) -> None:
    """Raises `InputError` if AllenNLP, which uses the folder as a pattern, would not find checkpoints in it."""
    if glob.escape(str(folder)) != str(folder):
        hint = "AllenNLP would not find its checkpoints: give -s another folder"
        raise InputError("expected the path of a folder without *, ? and [", file=folder, hint=hint)


def has_run(folder: Path, params: Params, *, recover: bool) -> bool:
    """Whether there is a run to resume. Raises `InputError` if there are other files, or a run with another config."""
    temporary = list(leftovers(folder))
    unwritten = [path for path in temporary if path.name.startswith(f".{archival.CONFIG_NAME}.")]
    held = sorted(path.name for path in folder.iterdir() if path.name != run_lock.LOCK and path not in unwritten)
    config = folder / archival.CONFIG_NAME
    if held and not recover:
        ways = "give -s another folder; --force deletes this one"
        hint = f"--recover resumes the run in it; {ways}" if config.is_file() else ways
        raise InputError(f"expected an empty folder, got {', '.join(held)}", file=folder, hint=hint)
    if config.is_file():
        require_same(params, config)
    for path in temporary if config.is_file() else [] if held else unwritten:
        path.unlink(missing_ok=True)
    return bool(held)


def require_vocabulary(params: Params, folder: Path) -> None:
    """Makes the vocabulary of a distributed run that was killed before it had one: `--recover` only loads it."""
    vocabulary = folder / "vocabulary"
    if any(file.name != NAMESPACE_PADDING_FILE for file in vocabulary.glob("[!.]*.txt")):
        return
    shutil.rmtree(vocabulary, ignore_errors=True)
    training_util.make_vocab_from_params(params.duplicate(), str(folder))


def require_same(params: Params, file: Path) -> None:
    """Raises `InputError` if the run in this folder has another config."""
    if found := differences(Params.from_file(file).params, params.params):
        hint = "--recover resumes with the config in this file; for another config give -s another folder, or delete"
        problem = f"the run has another config: {'; '.join(found)}"
        raise InputError(problem, file=file, hint=f"{hint} this one with --force")


def _atomic(write: Callable[..., None], *, place: int) -> Callable[..., None]:
    """A function that writes the file whose path is the argument at this place."""

    @functools.wraps(write)
    def wrapper(*arguments: Any, **options: Any) -> None:
        if not arguments[place]:  # metrics that are not written
            write(*arguments, **options)
            return
        with atomic_write(arguments[place]) as aside:
            write(*arguments[:place], str(aside), *arguments[place + 1 :], **options)

    return wrapper


def _atomic_archive(archive: Callable[..., str]) -> Callable[..., str]:
    """`archive_model` as a training calls it, without a path."""

    @functools.wraps(archive)
    def archive_model(serialization_dir: str | os.PathLike[str], *arguments: Any, **options: Any) -> str:
        if len(arguments) > 1 or "archive_path" in options:
            return archive(serialization_dir, *arguments, **options)
        target = Path(serialization_dir) / "model.tar.gz"
        with atomic_write(target) as aside:
            archive(serialization_dir, *arguments, archive_path=str(aside), **options)
        return str(target)

    return archive_model


def _releasing(train_model: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(train_model)
    def wrapper(*arguments: Any, **options: Any) -> Any:
        try:
            return train_model(*arguments, **options)
        finally:
            run_lock.release()

    return wrapper
