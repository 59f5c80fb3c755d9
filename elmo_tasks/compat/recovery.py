"""What `--recover` finds in a run's folder: nothing yet, another configuration, or a run to go on with."""

import functools
import glob
import logging
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from allennlp.commands import train
from allennlp.common import Params
from allennlp.common import util as common_util
from allennlp.data.vocabulary import NAMESPACE_PADDING_FILE
from allennlp.models import archival
from allennlp.training import util as training_util

from elmo_tasks.atomic import atomic_write, leftovers
from elmo_tasks.compat import first_step, run_lock
from elmo_tasks.errors import InputError

logger = logging.getLogger(__name__)

SHOWN = 5
"""How many differences between two configurations, or files of a folder, an error lists."""

ABSENT = object()


def prepared(create: Callable[..., None]) -> Callable[..., None]:
    """
    `create_serialization_dir` that locks the folder, takes over one in which no step was taken, and tells how a
    configuration differs.
    """

    @functools.wraps(create)
    def create_serialization_dir(
        params: Params, serialization_dir: str | os.PathLike[str], recover: bool, force: bool
    ) -> None:
        folder = Path(serialization_dir)
        require_plain_name(folder)
        end_run()
        is_distributed = params.get("distributed") is not None
        loads_vocabulary = recover and not force and folder.is_dir() and is_distributed
        try:
            is_locked = _nodes(params) == 1  # several nodes of one run would lock each other out
            if is_locked and folder.is_dir():
                run_lock.acquire(folder)
            if folder.is_dir() and not force:
                recover = look_into(folder, params, recover=recover)
            if not recover and not force:
                run_lock.release()  # `create` expects an empty folder
            create(params, serialization_dir, recover, force)
            if loads_vocabulary:
                require_vocabulary(params, folder)
            if is_locked:
                run_lock.acquire(folder)
        except BaseException:
            end_run()
            raise
        if not recover and not is_distributed:  # the steps of a distributed run are taken in other processes
            first_step.mark(folder)

    return create_serialization_dir


def require_plain_name(folder: Path) -> None:
    """
    # Raises

    `InputError`
        where AllenNLP, which takes the folder for a pattern, would not find the checkpoints in it.
    """
    if glob.escape(str(folder)) != str(folder):
        hint = "AllenNLP would not find its checkpoints: give -s another folder"
        raise InputError("expected the path of a folder without *, ? and [", file=folder, hint=hint)


def _nodes(params: Params) -> Any:
    distributed = params.as_dict(quiet=True).get("distributed")
    return distributed.get("num_nodes", 1) if isinstance(distributed, dict) else 1


def look_into(folder: Path, params: Params, *, recover: bool) -> bool:
    """
    Clears a folder in which no step was taken, and says whether there is a run to resume.

    # Raises

    `InputError`
        where the folder holds anything else, or another configuration is to be resumed.
    """
    if first_step.took_no_step(folder):
        logger.info("no step was taken in %s: the run starts from the beginning", folder)
        first_step.clear(folder)
        return False
    stale = list(leftovers(folder))
    unwritten = [path for path in stale if path.name.startswith(f".{archival.CONFIG_NAME}.")]
    held = sorted(path for path in folder.iterdir() if path.name != run_lock.LOCK and path not in unwritten)
    if not held:
        _remove(unwritten)
        return False
    has_run = (folder / archival.CONFIG_NAME).is_file()
    if not recover:
        later = [path for path in held if not first_step.is_of_the_beginning(path)]
        ways = "give -s another folder; --force deletes this one"
        hint = f"--recover resumes the run in it; {ways}" if has_run else ways
        raise InputError(f"expected an empty folder, got {_listed(later or held)}", file=folder, hint=hint)
    if has_run:
        require_same(params, folder / archival.CONFIG_NAME)
        _remove(stale)
    return True


def _remove(files: Iterable[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)


def _listed(paths: list[Path]) -> str:
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(path.name for path in paths[:SHOWN]) + more


def require_vocabulary(params: Params, folder: Path) -> None:
    """
    Make the vocabulary of a distributed training that was killed before it had one: AllenNLP only loads it when a run
    is recovered.
    """
    vocabulary = folder / "vocabulary"
    if any(file.name != NAMESPACE_PADDING_FILE for file in vocabulary.glob("[!.]*.txt")):
        return
    shutil.rmtree(vocabulary, ignore_errors=True)
    training_util.make_vocab_from_params(params.duplicate(), str(folder))


def require_same(params: Params, file: Path) -> None:
    """
    # Raises

    `InputError`
        where the run in this folder was begun with another configuration.
    """
    now, then = params.as_flat_dict(), Params.from_file(file).as_flat_dict()
    differing = [
        f"{key} was {_shown(then, key)}, is {_shown(now, key)}"
        for key in sorted(now.keys() | then.keys())
        if now.get(key, ABSENT) != then.get(key, ABSENT)
    ]
    if differing:
        more = f"; and {len(differing) - SHOWN} more" if len(differing) > SHOWN else ""
        raise InputError(
            f"the run was begun with another configuration: {'; '.join(differing[:SHOWN])}{more}",
            file=file,
            hint="--recover resumes with the configuration in this file; for another one give -s another folder, or"
            " delete this one with --force",
        )


def _shown(flat: dict[str, Any], key: str) -> str:
    return repr(flat[key]) if key in flat else "absent"


def whole_config(write: Callable[..., None]) -> Callable[..., None]:
    """`Params.to_file` that leaves the old file or the new one, nothing between."""

    @functools.wraps(write)
    def to_file(self: Params, params_file: str, *arguments: Any, **options: Any) -> None:
        with atomic_write(params_file) as aside:
            write(self, str(aside), *arguments, **options)

    return to_file


def whole_metrics(dump: Callable[..., None]) -> Callable[..., None]:
    """The same for `dump_metrics`."""

    @functools.wraps(dump)
    def dump_metrics(file_path: str | None, metrics: dict[str, Any], log: bool = False) -> None:
        if not file_path:
            dump(file_path, metrics, log)
            return
        with atomic_write(file_path) as aside:
            dump(str(aside), metrics, log)

    return dump_metrics


def whole_archive(archive: Callable[..., str]) -> Callable[..., str]:
    """The same for `archive_model` as a training calls it: a `model.tar.gz` is there when it is whole."""

    @functools.wraps(archive)
    def archive_model(serialization_dir: str | os.PathLike[str], *arguments: Any, **options: Any) -> str:
        if len(arguments) > 1 or "archive_path" in options:
            return archive(serialization_dir, *arguments, **options)
        target = Path(serialization_dir) / "model.tar.gz"
        with atomic_write(target) as aside:
            archive(serialization_dir, *arguments, archive_path=str(aside), **options)
        return str(target)

    return archive_model


def marked(train_model: Callable[..., Any]) -> Callable[..., Any]:
    """`train_model` that leaves the mark of a run without a step only where it fails: a dry run is finished."""

    @functools.wraps(train_model)
    def wrapper(*arguments: Any, **options: Any) -> Any:
        try:
            trained = train_model(*arguments, **options)
            first_step.remove_mark()
            return trained
        finally:
            end_run()

    return wrapper


def end_run() -> None:
    """Ends what this process does in the folder of a run: it holds no lock and removes no mark."""
    first_step.forget_mark()
    run_lock.release()


def begin_or_go_on() -> None:
    """
    Lets a run follow one that ended before its first step, and `--recover` a kill at the very beginning or the very end
    of a run.

    AllenNLP makes the folder first and writes `config.json`, metrics and archive in place: killed or failed
    there, a run cannot be resumed or repeated, or looks finished and is not. Where the configuration has changed
    the error names the keys. It can go when AllenNLP renames these files into their places.
    """
    if hasattr(training_util.create_serialization_dir, "__wrapped__"):
        return
    training_util.create_serialization_dir = prepared(training_util.create_serialization_dir)
    Params.to_file = whole_config(Params.to_file)
    common_util.dump_metrics = whole_metrics(common_util.dump_metrics)
    train.archive_model = whole_archive(train.archive_model)
    train.train_model = marked(train.train_model)
    first_step.watch_optimizers()
    first_step.watch_vocabularies()
