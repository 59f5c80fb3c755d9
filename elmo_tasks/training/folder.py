"""
The folder of a training: who may write in it, what a run has written, and what a killed
run left half-written.
"""

import glob
import json
import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.common.meta import Meta
from allennlp.data.vocabulary import NAMESPACE_PADDING_FILE
from allennlp.training import util as training_util
from filelock import FileLock, Timeout

from elmo_tasks.errors import InputError, without_secrets
from elmo_tasks.files import atomic_write
from elmo_tasks.run_names import CONFIG, LOCK, META, VOCABULARY
from elmo_tasks.temporary import remove_leftovers
from elmo_tasks.training.checks.problem import mapped
from elmo_tasks.training.config import differences
from elmo_tasks.training.inputs import record_inputs, require_unchanged
from elmo_tasks.training.run_folder import RunFolder

logger = logging.getLogger(__name__)

RESUME = (
    "--recover resumes the run in it; give -s another folder; --force removes this run"
)
_MOST_NAMES = 10  # in a message


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """
    Locks a folder, which is created if it does not exist. Raises `InputError` if
    another process is training in it.
    """
    lock = FileLock(folder / LOCK)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        problem = "another process is training in this folder"
        hint = "wait for it, or give -s another folder"
        raise InputError(problem, file=folder, hint=hint) from None
    except (NotImplementedError, OSError) as error:
        if not folder.is_dir():
            raise
        risk = "make sure that only one process trains in it"
        logger.warning("%s cannot be locked (%s): %s", folder, error, risk)
    try:
        yield
    finally:
        lock.release()


def prepare(
    folder: Path,
    params: Params,
    *,
    recover: bool,
    force: bool,
    allow_changed: bool = False,
) -> None:
    """
    Makes a locked folder ready for AllenNLP's training, which resumes from the newest
    checkpoint in it: removes what a killed run left half-written, with `force` all that
    a run has written, and writes the config. What no run has written stays; after
    `force` a warning names it.

    Raises `InputError`, and changes nothing, as `require_usable` does, and with
    `recover` if a file that the run reads has changed since it began. With
    `allow_changed` that is a warning.
    """
    require_usable(folder, params, recover=recover, force=force)
    run = RunFolder(folder)
    config = folder / CONFIG
    given = params.as_dict(quiet=True)
    if recover:
        require_unchanged(folder, given, allow_changed=allow_changed)
    if force and not recover and run.is_run():
        others = run.remove()
        if others:
            logger.warning(
                "%s: kept what is not part of a run: %s", folder, _few(others)
            )
    remove_leftovers(folder)
    Meta.new().to_file(folder / META)
    stored = _without_keys(given)
    if _stored(config) != stored:
        with atomic_write(config) as aside:
            Params(stored).to_file(str(aside))
    if not run.has_checkpoint():
        record_inputs(folder, given)


def require_usable(folder: Path, params: Params, *, recover: bool, force: bool) -> None:
    """
    Raises `InputError` if a folder, which need not exist, has other files than a run;
    without `recover` or `force`, if it has a run; with `force`, if a folder has the
    name of a run's file, or a file that of its folder; with `recover`, if the run has
    another config. `force` has no effect with `recover`.
    """
    run = RunFolder(folder)
    if recover:
        _require_resumable(run, params)
    elif force and run.is_run():
        others = run.in_the_way()
        if others:
            problem = f"expected files and folders of a run, got {_few(others)}"
            hint = "move what is not part of a run, or give -s another folder"
            raise InputError(problem, file=folder, hint=hint)
    else:
        _require_empty(run, force=force)


def _require_empty(run: RunFolder, *, force: bool) -> None:
    """
    Raises `InputError` if the folder has files; with `force`, if it has files that a
    run would replace.
    """
    present = run.names_of_runs() if force else run.names()
    if present == [META] and run.has_meta():
        return  # of a run that was killed before it wrote its config
    if present:
        problem = f"expected an empty folder, got {_few(present)}"
        hint = RESUME if run.is_run() else "give -s another"
        raise InputError(problem, file=run.path, hint=hint)


def _require_resumable(run: RunFolder, params: Params) -> None:
    """
    Raises `InputError` if the folder has other files than a run of this config, or the
    beginning of one.
    """
    config = run.path / CONFIG
    others = set(run.names_of_runs()) - {CONFIG, META}
    stored = _stored(config)
    if stored is not None:
        require_same(stored, params.as_dict(quiet=True), config)
    elif config.exists():
        _require_beginning(config, params)
    has_other_meta = (run.path / META).exists() and not run.has_meta()
    is_begun = not others or run.is_run() or (stored and run.has_checkpoint())
    if has_other_meta or not is_begun:
        problem = f"expected a run with {CONFIG}, got {_few(run.names())}"
        raise InputError(problem, file=run.path)


def _require_beginning(config: Path, params: Params) -> None:
    """
    Raises `InputError` unless a file is the beginning of the config: AllenNLP was
    killed while it wrote it.
    """
    whole = json.dumps(params.as_ordered_dict(), indent=4).encode()
    if not whole.startswith(config.read_bytes()):
        problem = "expected the config of a run, got no JSON object"
        raise InputError(problem, file=config, hint="give -s another folder")
    logger.info("%s is incomplete and is written again", config)


def _few(names: Sequence[str]) -> str:
    """The first names, on one line."""
    shown = []
    for name in names[:_MOST_NAMES]:
        if not name.isprintable():
            name = repr(name)[1:-1]
        shown.append(name)
    text = ", ".join(shown)
    more = len(names) - len(shown)
    if more:
        text += f" and {more:,} more"
    return text


def require_plain_name(folder: Path) -> None:
    """
    Raises `InputError` if AllenNLP, which uses the folder as a pattern, would not find
    checkpoints in it.
    """
    if glob.escape(str(folder)) != str(folder) or not str(folder).isprintable():
        problem = "expected the path of a folder without *, ?, [ and line breaks"
        hint = "AllenNLP would not find its checkpoints: give -s another folder"
        raise InputError(problem, file=folder, hint=hint)


def make_vocabulary(params: Params, folder: Path) -> None:
    """
    The vocabulary of a run of several processes, unless an earlier attempt has
    completed it.
    """
    run = RunFolder(folder)
    if run.has_vocabulary() or run.has_checkpoint():
        return
    with tempfile.TemporaryDirectory() as temporary:  # AllenNLP wants a new one
        made = training_util.make_vocab_from_params(params.duplicate(), temporary)
    made.save_to_files(str(folder / VOCABULARY))
    run.record_vocabulary(made)


def read_saved_vocabulary(params: Params, folder: Path) -> None:
    """
    Has a run that is resumed read its vocabulary, which belongs to its weights, and not
    make it again from the data.
    """
    if RunFolder(folder).has_checkpoint():
        use_vocabulary(params, folder)


def use_vocabulary(params: Params, folder: Path) -> None:
    """
    Has a training read the vocabulary in the folder of the run, in the class that the
    config names. Raises `InputError` if it is missing.
    """
    directory = folder / VOCABULARY
    others = RunFolder(folder).not_of_vocabulary()
    if others:
        problem = f"expected only the files of the vocabulary, got {', '.join(others)}"
        hint = "move them elsewhere: AllenNLP would read them as part of the vocabulary"
        raise InputError(problem, file=directory, hint=hint)
    if not (directory / NAMESPACE_PADDING_FILE).is_file():
        problem = "expected the vocabulary of the run, got none"
        raise InputError(problem, file=directory, hint="start another run")
    saved = {"type": "from_files", "directory": str(directory)}
    given = params.get("vocabulary", {})
    for key in ("padding_token", "oov_token"):
        if key in given:
            saved[key] = given[key]
    params["vocabulary"] = saved
    params.pop("datasets_for_vocab_creation", None)


def require_same(
    stored: Mapping[str, Any], given: Mapping[str, Any], file: Path
) -> None:
    """Raises `InputError` if the run in this folder has another config."""
    found = differences(_without_keys(stored), _without_keys(given))
    if found:
        problem = f"the run has another config: {'; '.join(found)}"
        hint = (
            "--recover resumes with the config in this file; for another config give "
            "-s another folder, or remove this run with --force"
        )
        raise InputError(problem, file=file, hint=hint)


def _without_keys(config: Mapping[str, Any]) -> Any:
    """A config without keys in its URLs."""
    return mapped(dict(config), _without_secrets)


def _without_secrets(value: Any) -> Any:
    if isinstance(value, str):
        return without_secrets(value)
    return value


def _stored(config: Path) -> dict[str, Any] | None:
    """The config of the run; `None` if there is none, or it is incomplete."""
    try:
        found = json.loads(config.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    return found
