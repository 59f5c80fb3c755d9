"""What `elmo-tasks models` prints of the published models."""

from dataclasses import asdict
from pathlib import Path
from textwrap import shorten

from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.download import cache_folder, download_target
from elmo_tasks.formats.fetching.fetch import local_path
from elmo_tasks.formats.fetching.published import (
    BUNDLED,
    BUNDLED_MODEL,
    MODELS,
    PublishedModel,
    nearest_model,
    published,
)
from elmo_tasks.system.files import file_sha256

_ROW = "{:<31}  {:<19}  {:>4}  {}"
"""Of at most 78 characters, with a domain of 20."""


def download(name: str) -> None:
    """
    Downloads a model, and prints its files and their digests. Raises `InputError` if no
    model that is downloaded has this name, and as `local_path` does.
    """
    if name == BUNDLED:
        raise InputError("it comes with the package", file=name)
    model = published(name)
    if model is None:
        near = nearest_model(name)
        hint = "`elmo-tasks models` lists the names"
        if near is not None:
            hint = f"nearest: {near}; {hint}"
        raise InputError("no published model has this name", file=name, hint=hint)
    for file in model.files:
        print(f"{_described(file, model)}\nsha256: {file_sha256(local_path(file))}")


def print_models(text: str) -> None:
    """
    A line for each model whose name, language or domain has the text; of one model all
    that is known.
    """
    found = {}
    for name, model in {BUNDLED: BUNDLED_MODEL, **MODELS}.items():
        searched = [name, *model.aliases, model.language, model.domain]
        if text.lower() in " ".join(searched).lower():
            found[name] = model
    if not found:
        raise InputError(
            f"expected a part of a model's name, language or domain, got {text!r}",
            hint="`elmo-tasks models` lists all models",
        )
    print(_ROW.format("NAME", "LANGUAGE", "DIM", "DOMAIN"))
    for name, model in found.items():
        is_there = [_cached(file).is_file() for file in model.files]
        mark = " *" if is_there and all(is_there) else ""
        domain = shorten(model.domain, 20, placeholder=" ...") or "-"
        print(_ROW.format(name + mark, model.language, model.dimension or "-", domain))
    print(f"* in the cache, {cache_folder()}")
    if len(found) == 1:
        _print_details(*found.popitem())


def _print_details(name: str, model: PublishedModel) -> None:
    print(f"name: {name}")
    for key, value in asdict(model).items():
        if key not in ("files", "md5", "aliases"):
            print(f"{key}: {'not stated' if value in (None, '') else value}")
    if model.aliases:
        print(f"aliases: {', '.join(model.aliases)}")
    for file in model.files:
        print(f"file: {_described(file, model)}")


def _cached(file: str) -> Path:
    """Where the file at an address is in the cache, if it was downloaded."""
    return download_target(file.partition("#")[0])


def _described(file: str, model: PublishedModel) -> str:
    """The address of a file, its published checksum, and where it is in the cache."""
    url = file.partition("#")[0]
    md5 = model.md5_of(url)
    checksum = "" if md5 is None else f", md5 {md5}"
    path = _cached(file)
    place = path if path.is_file() else "no"
    return f"{url}{checksum}, in the cache: {place}"
