"""
Published models on this machine: what the cache has of them, fetching and removing them.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from elmo_tasks.errors import InputError
from elmo_tasks.files import file_sha256
from elmo_tasks.formats.cache_folder import (
    download_target,
    first_digest,
    forget_first,
    unpacked_folder,
)
from elmo_tasks.formats.download import partial_bytes, remove
from elmo_tasks.formats.fetch import local_path
from elmo_tasks.formats.models import BUNDLED, PublishedModel, nearest, published


@dataclass(frozen=True)
class CachedFile:
    """
    A file of a published model.

    - `path`: its place in the cache, whether or not it is there.
    - `n_bytes`: number of bytes downloaded so far.
    - `is_whole`: true if it is downloaded completely.
    - `sha256`: of its first download, if there was one.
    - `md5`: the published checksum, if there is one.
    """

    url: str
    path: Path
    n_bytes: int
    is_whole: bool
    sha256: str | None
    md5: str | None


def model_of(name: str) -> PublishedModel:
    """Raises `InputError` if no model that is downloaded has this name."""
    if name == BUNDLED:
        hint = "it is always available, and never in the cache"
        raise InputError("it comes with the package", file=name, hint=hint)
    model = published(name)
    if model is None:
        hint = "`elmo-tasks models` lists the names"
        near = nearest(name)
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
        is_whole = path.is_file()
        n_bytes = partial_bytes(path)
        if is_whole:
            n_bytes = path.stat().st_size
        cached = CachedFile(
            url, path, n_bytes, is_whole, first_digest(url), model.md5_of(url)
        )
        found.append(cached)
    return found


def fetch_model(name: str) -> list[CachedFile]:
    """
    Download the files of a published model that are not in the cache; what was cut goes
    on. Raises `InputError` as `local_path` does, or if a file that is there has changed
    since its first download.
    """
    model = model_of(name)
    for file in model.files:
        local_path(file)
    found = cached_files(model)
    for cached in found:
        if cached.sha256 not in (None, file_sha256(cached.path)):
            hint = f"elmo-tasks models --remove {name}, then download it again"
            problem = (
                f"expected sha256={cached.sha256} as in its first download, got another"
            )
            raise InputError(problem, file=cached.path, hint=hint)
    return found


def remove_model(name: str) -> int:
    """
    Remove the files of a published model from the cache, also unpacked ones, those that
    were cut, and the digests of their first downloads, so that nothing is in the way of
    a new one. Returns the number of bytes of the files without the digests. Raises
    `InputError` if nothing of it is there, or it cannot be removed.
    """
    removed = 0
    of_digests = 0
    for cached in cached_files(model_of(name)):
        if cached.is_whole and cached.path.suffix == ".zip":
            removed += _remove_folder(unpacked_folder(cached.path))
        removed += remove(cached.path)
        of_digests += forget_first(cached.url)
    if not removed and not of_digests:
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
