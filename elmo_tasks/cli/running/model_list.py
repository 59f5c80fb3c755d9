"""What `elmo-tasks models` prints of the published models."""

from dataclasses import asdict
from textwrap import shorten
from typing import Any

from elmo_tasks.cli.running.documents import print_document
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.cache_folder import cache_folder
from elmo_tasks.formats.fetching.model_cache import (
    CachedFile,
    cached_files,
    fetch_model,
)
from elmo_tasks.formats.fetching.published import (
    BUNDLED,
    BUNDLED_MODEL,
    MODELS,
    PublishedModel,
)
from elmo_tasks.resources import embedded_bilm
from elmo_tasks.system.files import file_sha256

_ROW = "{:<31}  {:<19}  {:>4}  {}"
"""Of at most 78 characters, with a domain of 20."""


def download(name: str, *, as_json: bool) -> None:
    """Downloads a model, and prints its files and their digests."""
    found = []
    for file in fetch_model(name):
        found.append({**asdict(file), "sha256": file_sha256(file.path)})
    if as_json:
        print_document({"name": name, "files": found})
        return
    for values in found:
        for key, value in values.items():
            print(f"{key}: {value}")


def print_models(text: str, *, as_json: bool) -> None:
    """
    A line for each model whose name, language or domain has the text; of one model, and
    in JSON, all that is known.
    """
    models = []
    for name, model in {BUNDLED: BUNDLED_MODEL, **MODELS}.items():
        if _fits(text.lower(), name, model):
            models.append(_record(name, model))
    if not models:
        raise InputError(
            f"expected a part of a model's name, language or domain, got {text!r}",
            hint="`elmo-tasks models` lists all models",
        )
    if as_json:
        print_document({"cache": cache_folder(), "models": models})
        return
    print(_ROW.format("NAME", "LANGUAGE", "DIM", "DOMAIN"))
    for known in models:
        name = known["name"] + (" *" if _is_cached(known["files"]) else "")
        domain = shorten(known["domain"], 20, placeholder=" ...") or "-"
        row = _ROW.format(name, known["language"], known["dimension"] or "-", domain)
        print(row)
    print(f"* in the cache, {cache_folder()}")
    if len(models) == 1:
        _print_details(models[0])


def _fits(text: str, name: str, model: PublishedModel) -> bool:
    searched = [name, *model.aliases, model.language, model.domain]
    return text in " ".join(searched).lower()


def _record(name: str, model: PublishedModel) -> dict[str, Any]:
    """All that is known of a model."""
    known = asdict(model)
    del known["md5"]  # which the files have
    known["files"] = cached_files(model) or list(embedded_bilm())
    return {"name": name, **known}


def _is_cached(files: list[Any]) -> bool:
    return all(isinstance(file, CachedFile) and file.is_there for file in files)


def _print_details(known: dict[str, Any]) -> None:
    for key, value in known.items():
        if isinstance(value, list):
            for one in value:
                print(f"{key}: {one}")
        else:
            print(f"{key}: {'not stated' if value in (None, '') else value}")
