"""The files and devices of a config: whether this machine has them."""

import glob
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from allennlp.data import DatasetReader

from elmo_tasks.elmo.source_types import SOURCES
from elmo_tasks.errors import InputError
from elmo_tasks.formats.corpora import located
from elmo_tasks.formats.models import MODELS
from elmo_tasks.formats.text_files import missing_hint
from elmo_tasks.training.checks.problem import Problem, below, get, items, shown

CPU = -1


def has_device(device: Any) -> bool:
    """Whether the device of a config exists: the index of a GPU, or a negative number for the CPU."""
    return isinstance(device, int) and not isinstance(device, bool) and device < max(0, torch.cuda.device_count())


def require_device(device: int) -> None:
    """Raises `InputError` if there is no such device."""
    if not has_device(device):
        raise InputError(f"--cuda-device: expected {devices_here()}, got {device}")


def devices_here() -> str:
    """The devices of this machine, for a message."""
    gpus = torch.cuda.device_count()
    if gpus == 0:
        return f"{CPU} (the CPU), since this machine has no GPU"
    return f"{CPU} (the CPU) or a GPU from 0 to {gpus - 1}"


DATA_PATHS = ("train_data_path", "validation_data_path", "test_data_path")

FILE_KEY = re.compile(r"(?!(log|out|output|save|write|result|prediction)s?_)\w+_files?|weights_file_path")
"""Keys of files that are read, for all classes."""

VOCABULARY_KEYS = ("directory", "file", "files")

REMOTE = re.compile(r"\w+://|\(|hf://")
"""URLs, and members of archives."""


def file_problems(config: dict[str, Any]) -> Iterator[Problem]:
    """
    Missing files. A data path is one if the reader is ours, or if it looks like a path: readers of others may accept
    names of other things.
    """
    reader = _reader_module(config)
    is_ours = reader.startswith("elmo_tasks.")
    hint = getattr(sys.modules.get(reader), "CORPUS_HINT", None)
    for key in DATA_PATHS:
        for path, name in strings(key, config.get(key)):
            if is_ours or Path(name).is_absolute() or ("/" in name and Path(name).suffix):
                yield from _missing(path, name, hint)
    for path, name in _named_files("", config):
        yield from _missing(path, name)


def device_problems(config: dict[str, Any]) -> Iterator[Problem]:
    """Missing devices in `distributed.cuda_devices`, or in `trainer.cuda_device`, which `distributed` replaces."""
    path = "distributed.cuda_devices" if isinstance(config.get("distributed"), dict) else "trainer.cuda_device"
    given = get(config, path)
    for device in given if isinstance(given, list) and path.startswith("distributed") else [given]:
        if device is not None and not has_device(device):
            yield Problem(path=path, expected=devices_here(), got=shown(device))


def paths_read(config: dict[str, Any]) -> Iterator[Path]:
    """The existing files and folders of a config; patterns are expanded."""
    data = {key: config.get(key) for key in DATA_PATHS} | {"model": get(config, "model.elmo.model")}
    for _, name in [*strings("", data), *_named_files("", config)]:
        for part in _parts(name):
            yield from map(Path, [part] if part and Path(part).exists() else glob.glob(part, recursive=True))


def strings(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """The strings in a value, with their paths."""
    if isinstance(value, str):
        yield path, value
    for key, part in items(value):
        yield from strings(below(path, key), part)


def _named_files(path: str, value: Any) -> Iterator[tuple[str, str]]:
    for key, part in items(value):
        here = below(path, key)
        source = SOURCES.get(str(value.get("source"))) if key in ("options_file", "weight_file") else None
        if source is not None and key not in source.files:
            continue  # it ignores the biLM's
        if FILE_KEY.fullmatch(str(key)) or (path == "vocabulary" and key in VOCABULARY_KEYS):
            yield from strings(here, part)
        else:
            yield from _named_files(here, part)


def _missing(path: str, name: str, corpus_hint: str | None = None) -> Iterator[Problem]:
    for part in [] if REMOTE.match(name) or name in MODELS else _parts(name):
        if not part or not (Path(part).exists() or glob.glob(part, recursive=True)):
            got = f"nothing at {part} ({missing_hint(corpus_hint)})" if part else '""'
            yield Problem(path=path, expected="an existing file", got=got)


def _parts(name: str) -> list[str]:
    """The paths in a name: without the member of an archive, split at commas."""
    whole = located(name.partition("!")[0])
    return [whole] if Path(whole).exists() else [located(part.strip()) for part in whole.split(",")]


def _reader_module(config: dict[str, Any]) -> str:
    """The module of the dataset reader, which has a hint where its corpus can be found."""
    name = get(config, "dataset_reader.type") or config.get("dataset_reader")
    is_known = isinstance(name, str) and name in DatasetReader.list_available()
    return DatasetReader.resolve_class_name(name)[0].__module__ if is_known else ""
