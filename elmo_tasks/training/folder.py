"""The folder of a training: who may write in it, what a run has written, and what a killed run left half-written."""

import glob
import json
import logging
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.common.meta import META_NAME, Meta
from allennlp.data.vocabulary import NAMESPACE_PADDING_FILE
from allennlp.models.archival import CONFIG_NAME
from allennlp.training import util as training_util
from filelock import FileLock, Timeout

from elmo_tasks.errors import InputError
from elmo_tasks.files import atomic_write, leftovers
from elmo_tasks.training.config import differences
from elmo_tasks.training.confusion import CONFUSION
from elmo_tasks.training.curves import CURVES
from elmo_tasks.training.torchrun import MEETING

logger = logging.getLogger(__name__)

LOCK = ".training.lock"
ARCHIVE = "model.tar.gz"
RESUME = (
    "--recover resumes the run in it; give -s another folder; --force removes this run"
)
WRITTEN = (
    *(CONFIG_NAME, META_NAME, "vocabulary", "log", "out.log", "out_worker*.log"),
    *("options.json", "perplexities.json", f"{MEETING}*"),
    *(
        "model_state_*.th*",
        "training_state_*.th*",
        "best.th",
        "metrics_epoch_*.json",
        "metrics.json",
    ),
    *("curve.jsonl", CONFUSION, CURVES, "exported", ARCHIVE),
)
"""What a run writes."""


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Locks a folder, which is made if need be; `InputError` if another process trains in it."""
    lock = FileLock(folder / LOCK)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        hint = "wait for it, or give -s another folder"
        raise InputError(
            "another process is training in this folder", file=folder, hint=hint
        ) from None
    except (NotImplementedError, OSError) as error:
        if not folder.is_dir():
            raise
        logger.warning(
            "%s cannot be locked (%s): do not train in this folder twice at once",
            folder,
            error,
        )
    try:
        yield
    finally:
        lock.release()


def prepare(folder: Path, params: Params, *, recover: bool, force: bool) -> None:
    """
    Makes a locked folder ready for AllenNLP's training, which resumes from the newest checkpoint in it: removes what a
    killed run left half-written, with `force` all that a run has written, and writes the config. Without `meta.json`,
    which a run writes first, files under the names that a run writes are somebody's.

    Raises `InputError`, and changes nothing, if the folder has other files; without `recover` or `force`, if it has a
    run; with `recover`, if the run has another config. `force` has no effect with `recover`.
    """
    config = folder / CONFIG_NAME
    if recover:
        if not config.is_file() and _matching(folder, ["model_state_*.th"]):
            raise InputError(
                f"expected a run with {CONFIG_NAME}, got {', '.join(_present(folder))}",
                file=folder,
            )
        if config.is_file() and (stored := _stored(config)) is not None:
            require_same(stored, params.as_dict(quiet=True), config)
    else:
        is_run, written = (folder / META_NAME).is_file(), _matching(folder, WRITTEN)
        blocking = [path.name for path in written] if force else _present(folder)
        if blocking and not (force and is_run):
            hint = RESUME if is_run else "give -s another"
            raise InputError(
                f"expected an empty folder, got {', '.join(blocking)}",
                file=folder,
                hint=hint,
            )
        for path in written:
            shutil.rmtree(
                path
            ) if path.is_dir() and not path.is_symlink() else path.unlink()
    for path in leftovers(folder):
        path.unlink(missing_ok=True)
    Meta.new().to_file(folder / META_NAME)
    with atomic_write(config) as aside:
        params.to_file(str(aside))


def require_plain_name(folder: Path) -> None:
    """Raises `InputError` if AllenNLP, which uses the folder as a pattern, would not find checkpoints in it."""
    if glob.escape(str(folder)) != str(folder) or not str(folder).isprintable():
        hint = "AllenNLP would not find its checkpoints: give -s another folder"
        raise InputError(
            "expected the path of a folder without *, ?, [ and line breaks",
            file=folder,
            hint=hint,
        )


def make_vocabulary(params: Params, folder: Path) -> None:
    """The vocabulary of a run of several processes, unless an earlier attempt has completed it."""
    vocabulary = folder / "vocabulary"
    if any(
        file.name != NAMESPACE_PADDING_FILE for file in vocabulary.glob("[!.]*.txt")
    ):
        return
    shutil.rmtree(vocabulary, ignore_errors=True)
    training_util.make_vocab_from_params(params.duplicate(), str(folder))


def require_same(
    stored: Mapping[str, Any], given: Mapping[str, Any], file: Path
) -> None:
    """Raises `InputError` if the run in this folder has another config."""
    if found := differences(stored, given):
        hint = "--recover resumes with the config in this file; for another config give -s another folder, or remove"
        problem = f"the run has another config: {'; '.join(found)}"
        raise InputError(problem, file=file, hint=f"{hint} this run with --force")


def _stored(config: Path) -> dict[str, Any] | None:
    """The config of the run; `None` if AllenNLP was killed while it wrote the file."""
    try:
        return dict(json.loads(config.read_text("utf-8")))
    except (ValueError, TypeError):
        logger.warning("%s is incomplete, and written again", config)
        return None


def _matching(folder: Path, patterns: Iterable[str]) -> list[Path]:
    return [path for pattern in patterns for path in sorted(folder.glob(pattern))]


def _present(folder: Path) -> list[str]:
    """The names in a folder but for the lock and temporary files of processes that have ended."""
    temporary = {path.name for path in leftovers(folder)}
    return sorted(
        path.name
        for path in folder.iterdir()
        if path.name != LOCK and path.name not in temporary
    )
