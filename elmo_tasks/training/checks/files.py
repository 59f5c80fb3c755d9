"""The files of a config: whether this machine has them."""

import glob
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from elmo_tasks.elmo.sources.types import BILM, SOURCES
from elmo_tasks.formats.corpora import located
from elmo_tasks.formats.fetching.published import BUNDLED, published
from elmo_tasks.training.nested import below, get, items, mapped, strings

DATA_PATHS = ("train_data_path", "validation_data_path", "test_data_path")

FILE_KEY = re.compile(
    r"(?!(log|out|output|save|write|result|prediction)s?_)\w+_files?|weights_file_path"
)
"""Keys of files that are read, for all classes."""

VOCABULARY_KEYS = ("directory", "file", "files")

MODEL_KEYS = ("model", "bilm")
"""Keys whose value, if it is a string, is the name of a model."""

REMOTE = re.compile(r"\w+://|\(|hf://")
"""URLs, and members of archives."""


def file_problems(config: dict[str, Any]) -> Iterator[str]:
    """
    Missing files. A data path is one if the reader is ours, or if it looks like a path:
    readers of others may accept names of other things.
    """
    reader = get(config, "dataset_reader.type") or config.get("dataset_reader")
    is_ours = str(reader).startswith("elmo_tasks")
    for key in DATA_PATHS:
        for path, name in _data(key, config):
            if is_ours or _looks_like_a_path(name):
                yield from _missing(path, name)
    for path, name in _named_files("", config):
        yield from _missing(path, name)


def data_files(config: Mapping[str, Any]) -> list[Path]:
    """
    The files on this machine that the data paths of a config name; of a folder, all but
    hidden ones.
    """
    found: set[Path] = set()
    for key in DATA_PATHS:
        for _, name in _data(key, config):
            if not REMOTE.match(name):
                for part in _parts(name):
                    found.update(_files(part))
    return sorted(found)


def _files(name: str) -> Iterator[Path]:
    """The files with a name or of a pattern, and those in its folders."""
    for path in _existing(name):
        if path.is_file():
            yield path
        for file in path.rglob("[!.]*"):
            parts = file.relative_to(path).parts
            if file.is_file() and not any(part.startswith(".") for part in parts):
                yield file


def _data(key: str, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """
    The names of data, with their paths in the config. For AllenNLP's reader
    `interleaving` they are a JSON object in a string.
    """
    return strings(key, mapped(config.get(key), _from_json))


def _from_json(value: Any) -> Any:
    """The object in a string of JSON; any other value as it is."""
    try:
        found = json.loads(value)
    except (TypeError, ValueError, RecursionError):
        return value
    if isinstance(found, dict):
        return found
    return value


def _existing(name: str) -> list[Path]:
    """The files and folders with a name or of a pattern."""
    if os.path.exists(name):
        return [Path(name)]
    return [Path(file) for file in glob.glob(name, recursive=True)]


def _looks_like_a_path(name: str) -> bool:
    path = Path(name)
    return path.is_absolute() or ("/" in name and path.suffix != "")


def _named_files(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """The files that a part of the config names, with their paths there."""
    for key, part in items(value):
        here = below(path, key)
        if key in ("options_file", "weight_file") and _is_ignored(key, value):
            continue
        is_file = FILE_KEY.fullmatch(str(key)) is not None
        if is_file or (path == "vocabulary" and key in VOCABULARY_KEYS):
            yield from strings(here, part)
        else:
            yield from _named_files(here, part)


def _is_ignored(key: str, elmo: dict[str, Any]) -> bool:
    """Whether a source has another model in place of a biLM's file."""
    source = elmo.get("source")
    if source in (None, BILM):
        return elmo.get("model") is not None
    known = SOURCES.get(str(source))
    return known is not None and key not in known.files


def _missing(path: str, name: str) -> Iterator[str]:
    """
    The problems of a name whose files are not there; none of what is downloaded.
    """
    if REMOTE.match(name) or name == BUNDLED or published(name) is not None:
        return
    for part in _parts(name):
        if not part:
            yield f'{path}: expected an existing file, got ""'
            continue
        if not _existing(part):
            hint = "check the path; `elmo-tasks data` says where the corpora come from"
            yield f"{path}: expected an existing file, got nothing at {part} ({hint})"


def _parts(name: str) -> list[str]:
    """
    The paths in a name, which are between commas. One that does not exist may be that
    of a member, after that of its archive.
    """
    found = []
    for part in [name] if os.path.exists(located(name)) else name.split(","):
        path = located(part.strip())
        archive, _, _ = path.partition("!")
        if not _existing(path) and os.path.exists(archive):
            path = archive
        found.append(path)
    return found
