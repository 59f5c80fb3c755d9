"""What `elmo-tasks models` prints of the published models."""

from dataclasses import asdict
from textwrap import shorten

from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.cache_folder import cache_folder
from elmo_tasks.formats.fetching.model_cache import cached_files, fetch_model
from elmo_tasks.formats.fetching.published import (
    BUNDLED,
    BUNDLED_MODEL,
    MODELS,
    PublishedModel,
)
from elmo_tasks.system.files import file_sha256

_ROW = "{:<31}  {:<19}  {:>4}  {}"
"""Of at most 78 characters, with a domain of 20."""


def download(name: str) -> None:
    """Downloads a model, and prints its files and their digests."""
    for file in fetch_model(name):
        print(f"{file}\nsha256: {file_sha256(file.path)}")


def print_models(text: str) -> None:
    """
    A line for each model whose name, language or domain has the text; of one model all
    that is known.
    """
    found = {}
    for name, model in {BUNDLED: BUNDLED_MODEL, **MODELS}.items():
        if _fits(text.lower(), name, model):
            found[name] = model
    if not found:
        raise InputError(
            f"expected a part of a model's name, language or domain, got {text!r}",
            hint="`elmo-tasks models` lists all models",
        )
    print(_ROW.format("NAME", "LANGUAGE", "DIM", "DOMAIN"))
    for name, model in found.items():
        files = cached_files(model)
        mark = " *" if files and all(file.is_there for file in files) else ""
        domain = shorten(model.domain, 20, placeholder=" ...") or "-"
        dimension = model.dimension or "-"
        print(_ROW.format(name + mark, model.language, dimension, domain))
    print(f"* in the cache, {cache_folder()}")
    if len(found) == 1:
        for name, model in found.items():
            _print_details(name, model)


def _fits(text: str, name: str, model: PublishedModel) -> bool:
    searched = [name, *model.aliases, model.language, model.domain]
    return text in " ".join(searched).lower()


def _print_details(name: str, model: PublishedModel) -> None:
    print(f"name: {name}")
    for key, value in asdict(model).items():
        if key not in ("files", "md5", "aliases"):
            print(f"{key}: {'not stated' if value in (None, '') else value}")
    if model.aliases:
        print(f"aliases: {', '.join(model.aliases)}")
    for file in cached_files(model):
        print(f"file: {file}")
