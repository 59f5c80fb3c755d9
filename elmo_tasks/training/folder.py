"""
The folder of a run: how a run begins and is resumed there, and its vocabulary and
checkpoints; and the data of the run, as they were when it began. `system/run_names.py`
has the names of its files.

A folder belongs to one run: it is made for it, or was empty. It has the SHA-256 of the
files of data and word vectors: a run is resumed only with the same ones.
"""

import glob
import json
import logging
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.common.meta import Meta
from allennlp.data.vocabulary import NAMESPACE_PADDING_FILE
from allennlp.training import util as training_util

from elmo_tasks.errors import InputError
from elmo_tasks.formats.corpora import files_below, located
from elmo_tasks.formats.json_files import read_json, require_object
from elmo_tasks.system.files import (
    LOCK,
    TEMPORARY,
    atomic_write,
    file_sha256,
    write_text,
)
from elmo_tasks.system.run_names import (
    ARCHIVE,
    BEST,
    CHECKPOINT,
    CONFIG,
    INPUTS,
    META,
    VOCABULARY,
)
from elmo_tasks.training.config import differences, get, strings, write_out_types

logger = logging.getLogger(__name__)

DATA_PATHS = ("train_data_path", "validation_data_path", "test_data_path")

VECTORS = re.compile(r"model\..*\.(pretrained|lookup)_file")
"""The paths of the keys that name files of word vectors."""

REMOTE = re.compile(r"\w+://|\(")
"""URLs, and members of archives."""

_MOST_BYTES = 2**28

Inputs = dict[str, str]
"""The SHA-256 of each file, by its path as in the config."""

_MOST_NAMES = 10  # in a message

_SECONDS_OF_CHECKS, _SECONDS_BETWEEN_LOOKS = 600.0, 0.2

RESUME = "--recover resumes the run in it; for another run give -s another folder"


def prepare(folder: Path, params: Params, *, recover: bool) -> None:
    """
    Makes a locked folder ready for AllenNLP's training, which resumes from the newest
    checkpoint in it: removes what a killed run left half-written, and writes the config
    and the digests of the data.

    Raises `InputError`, and changes nothing, as `require_usable` does.
    """
    require_usable(folder, params, recover=recover)
    given = params.as_dict(quiet=True)
    for left in folder.glob(TEMPORARY):
        shutil.rmtree(left, ignore_errors=True)
    if not (folder / CONFIG).exists():
        with atomic_write(folder / CONFIG) as aside:
            Params(given).to_file(str(aside))
    if not (folder / META).exists():
        with atomic_write(folder / META) as aside:
            Meta.new().to_file(aside)
    if not has_checkpoint(folder):
        record_inputs(folder, given)


def require_usable(folder: Path, params: Params, *, recover: bool) -> None:
    """
    Raises `InputError` if a folder, which need not exist, has files; with `recover`, if
    these are not of a run with this config, or as `require_same_data` does.
    """
    present = _names(folder)
    if not present:
        return
    config = folder / CONFIG
    if not recover:
        problem = f"expected an empty folder, got {', '.join(present[:_MOST_NAMES])}"
        hint = "give -s another folder"
        if config.is_file():
            hint = RESUME
        raise InputError(problem, file=folder, hint=hint)
    if not config.is_file():
        problem = (
            f"expected a run with {CONFIG}, got {', '.join(present[:_MOST_NAMES])}"
        )
        raise InputError(problem, file=folder)
    given = params.as_dict(quiet=True)
    require_same(_stored(config), given, config)
    if has_checkpoint(folder) or (folder / ARCHIVE).exists():
        require_same_data(folder, given)


def require_same(
    stored: Mapping[str, Any], given: Mapping[str, Any], file: Path
) -> None:
    """Raises `InputError` if the run in this folder has another config."""
    found = differences(dict(stored), dict(given))
    if found:
        problem = f"the run has another config: {'; '.join(found)}"
        hint = (
            "--recover resumes with the config in this file; for another config give "
            "-s another folder, or remove this one"
        )
        raise InputError(problem, file=file, hint=hint)


def require_plain_name(folder: Path) -> None:
    """
    Raises `InputError` if AllenNLP, which uses the folder as a pattern, would not find
    checkpoints in it.
    """
    if glob.escape(str(folder)) != str(folder) or not str(folder).isprintable():
        problem = "expected the path of a folder without *, ?, [ and line breaks"
        hint = "AllenNLP would not find its checkpoints: give -s another folder"
        raise InputError(problem, file=folder, hint=hint)


def has_checkpoint(folder: Path) -> bool:
    """Whether the file of a checkpoint is in the folder of a run."""
    return any(CHECKPOINT.fullmatch(name) for name in _listed(folder))


def remove_checkpoints(folder: Path) -> None:
    """
    Removes the checkpoints, which a finished run no longer needs; the archive and the
    metrics remain.
    """
    for name in _listed(folder):
        if name == BEST or CHECKPOINT.fullmatch(name):
            (folder / name).unlink(missing_ok=True)


def make_vocabulary(params: Params, folder: Path) -> None:
    """
    Makes the vocabulary of a run of several processes from all the data. A run that has
    a checkpoint has its vocabulary.
    """
    if has_checkpoint(folder):
        return
    with tempfile.TemporaryDirectory() as temporary:  # AllenNLP wants a new one
        made = training_util.make_vocab_from_params(params.duplicate(), temporary)
    made.save_to_files(str(folder / VOCABULARY))


def wait_for_vocabulary(folder: Path) -> None:
    """
    Waits until the first process has made the vocabulary of the run. Raises
    `InputError` if there is no folder of the run after ten minutes.
    """
    started = time.monotonic()
    while not (folder / VOCABULARY / NAMESPACE_PADDING_FILE).is_file():
        if not folder.is_dir() and time.monotonic() - started > _SECONDS_OF_CHECKS:
            problem = "expected a folder that all nodes share, got none"
            raise InputError(problem, file=folder)
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def use_vocabulary(params: Params, folder: Path) -> None:
    """
    Has a training read the vocabulary in the folder of the run, in the class that the
    config names. Raises `InputError` if it is missing.
    """
    directory = folder / VOCABULARY
    if not (directory / NAMESPACE_PADDING_FILE).is_file():
        problem = "expected the vocabulary of the run, got none"
        hint = "start another run, in a folder that all nodes share"
        raise InputError(problem, file=directory, hint=hint)
    saved = {"type": "from_files", "directory": str(directory)}
    given = params.get("vocabulary", {})
    for key in ("padding_token", "oov_token"):
        if key in given:
            saved[key] = given[key]
    params["vocabulary"] = saved
    params.pop("datasets_for_vocab_creation", None)


def vocabulary_files(folder: Path) -> list[Path]:
    """The files of the vocabulary in the folder of a run, without AllenNLP's lock."""
    names = _listed(folder / VOCABULARY)
    return [folder / VOCABULARY / name for name in names if not name.startswith(".")]


def digests(
    config: Mapping[str, Any], keys: Iterable[str] = (*DATA_PATHS, "model")
) -> Inputs:
    """The SHA-256 of `data_files`. Reads all, about a minute for 25 GB."""
    return {str(file): file_sha256(file) for file in data_files(config, keys)}


def data_files(config: Mapping[str, Any], keys: Iterable[str]) -> list[Path]:
    """
    The files on this machine that the data paths of a config name, and with `model`
    those of word vectors; of a folder, all but hidden ones.
    """
    found: set[Path] = set()
    for key in keys:
        for path, name in strings(key, config.get(key)):
            is_read = key != "model" or VECTORS.fullmatch(path)
            if is_read and not REMOTE.match(name):
                found.update(_files(located(name)))
    return sorted(found)


def absolute(key: str, value: Any) -> dict[str, str]:
    """
    The absolute paths of this machine in the value of a key, with their keys; of a
    model, those that exist and are written with a slash.
    """
    found = {}
    for path, name in strings(key, value):
        file = os.path.abspath(os.path.expanduser(name))
        is_path = key != "model" or ("/" in name and os.path.exists(file))
        if is_path and not REMOTE.match(name):
            found[path] = file
    return found


def _files(name: str) -> Iterator[Path]:
    """The files with a name or of a pattern, and those in its folders."""
    names = [name] if os.path.exists(name) else glob.glob(name, recursive=True)
    if not names:
        archive, _, _ = name.partition("!")  # of a member
        names = glob.glob(glob.escape(archive))
    for path in map(Path, names):
        if path.is_file():
            yield path
        yield from files_below(path)


def record_inputs(folder: Path, config: Mapping[str, Any]) -> None:
    """
    Records the data of a run in its folder. Warns of a file that is also training data:
    its scores are not those of new text. With `part`, loaders divide one file.
    """
    found = digests(config)
    write_text(folder / INPUTS, json.dumps(found, indent=1) + "\n")
    if get(config, "data_loader.part") is not None:
        return
    training = [found[str(file)] for file in data_files(config, DATA_PATHS[:1])]
    for key in DATA_PATHS[1:]:
        for file in data_files(config, [key]):
            if found[str(file)] in training:
                logger.warning("%s: %s has the text of the training data", key, file)


def recorded_inputs(folder: Path) -> Inputs:
    """The data that the run in a folder began with. Raises `InputError` without them."""
    found: Inputs = read_json(
        folder / INPUTS, "the record of the run's data", most_bytes=_MOST_BYTES
    )
    return found


def require_same_data(folder: Path, config: Mapping[str, Any]) -> None:
    """
    Raises `InputError` if the data are not those that the run in this folder began with,
    or without the record of them.
    """
    recorded = recorded_inputs(folder)
    changed = {name for name, _ in recorded.items() ^ digests(config).items()}
    if changed:
        problem = f"other data than the run began with: {', '.join(sorted(changed))}"
        hint = "restore these files, or start another run"
        raise InputError(problem, file=folder, hint=hint)


def _stored(config: Path) -> dict[str, Any]:
    """The config of a run; raises `InputError` if it is none."""
    found = require_object(read_json(config, "the config of a run"), file=config)
    write_out_types(found)
    return found


def _names(folder: Path) -> list[str]:
    """The names in a folder, except the lock and what a killed run was writing."""
    names = _listed(folder)
    return [one for one in names if one != LOCK and not fnmatchcase(one, TEMPORARY)]


def _listed(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
