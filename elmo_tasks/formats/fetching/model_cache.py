"""Published models on this machine: what the cache has of them, and fetching them."""

from dataclasses import dataclass
from pathlib import Path

from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.cache_folder import download_target
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
    - `is_there`: whether it was downloaded.
    - `md5`: the published checksum, if there is one.
    """

    url: str
    path: Path
    is_there: bool
    md5: str | None

    def __str__(self) -> str:
        md5 = "" if self.md5 is None else f", md5 {self.md5}"
        place = self.path if self.is_there else "no"
        return f"{self.url}{md5}, in the cache: {place}"


def model_of(name: str) -> PublishedModel:
    """Raises `InputError` if no model that is downloaded has this name."""
    if name == BUNDLED:
        raise InputError("it comes with the package", file=name)
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
        found.append(CachedFile(url, path, path.is_file(), model.md5_of(url)))
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
