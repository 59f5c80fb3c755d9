"""
Published models on this machine: what the cache has of them, fetching and removing them.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.cache_folder import download_target, unpacked_folder
from elmo_tasks.formats.fetching.fetch import local_path
from elmo_tasks.formats.fetching.published import (
    BUNDLED,
    PublishedModel,
    nearest_model,
    published,
)


@dataclass(frozen=True)
class CachedFile:
    """
    A file of a published model.

    - `path`: its path in the cache, whether or not it is there.
    - `n_bytes`: its size; 0 if it is not there.
    - `is_there`: whether it was downloaded.
    - `md5`: the published checksum, if there is one.
    """

    url: str
    path: Path
    n_bytes: int
    is_there: bool
    md5: str | None


def model_of(name: str) -> PublishedModel:
    """Raises `InputError` if no model that is downloaded has this name."""
    if name == BUNDLED:
        hint = "it is always available, and never in the cache"
        raise InputError("it comes with the package", file=name, hint=hint)
    model = published(name)
    if model is None:
        hint = "`elmo-tasks models` lists the names"
        near = nearest_model(name)
        if near is not None:
            hint = f"nearest: {near}; {hint}"
        raise InputError("no published model has this name", file=name, hint=hint)
    return model


def cached_files(model: PublishedModel) -> list[CachedFile]:
    """What the cache has of a model."""
    found = []
    for file in model.files:
        url = file.partition("#")[0]
        path = download_target(url)
        is_there = path.is_file()
        n_bytes = 0
        if is_there:
            n_bytes = path.stat().st_size
        found.append(CachedFile(url, path, n_bytes, is_there, model.md5_of(url)))
    return found


def fetch_model(name: str) -> list[CachedFile]:
    """
    Download the files of a published model that are not in the cache. Raises
    `InputError` as `local_path` does.
    """
    model = model_of(name)
    for file in model.files:
        local_path(file)
    return cached_files(model)


def remove_model(name: str) -> int:
    """
    Remove the files of a published model from the cache, also unpacked ones, and return
    the number of their bytes. Raises `InputError` if nothing of it is there, or it
    cannot be removed.
    """
    removed = 0
    for cached in cached_files(model_of(name)):
        if cached.is_there and cached.path.suffix == ".zip":
            removed += _remove_folder(unpacked_folder(cached.path))
        removed += _remove_folder(cached.path.parent)
    if not removed:
        raise InputError("it is not in the cache", file=name)
    return removed


def _remove_folder(folder: Path) -> int:
    if not folder.is_dir():
        return 0
    size = sum([path.stat().st_size for path in folder.rglob("*")])
    try:
        shutil.rmtree(folder)
    except OSError as error:
        problem = error.strerror or error
        raise InputError(f"cannot remove: {problem}", file=folder) from None
    return size
