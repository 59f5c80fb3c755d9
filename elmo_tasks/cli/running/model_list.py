"""What `elmo-tasks models` prints of the published models."""

from collections.abc import Sequence
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

_HEADER = ("NAME", "LANGUAGE", "DIM", "DOMAIN")
_DOMAIN_WIDTH = 20
"""So that lines have at most 80 characters."""

_UNKNOWN = "-"


def download(name: str, *, as_json: bool) -> None:
    """Downloads a model, and prints its files and their digests."""
    files = fetch_model(name)
    digests = [file_sha256(file.path) for file in files]
    if as_json:
        found = []
        for file, sha256 in zip(files, digests, strict=True):
            found.append({**asdict(file), "sha256": sha256})
        print_document({"name": name, "files": found})
        return
    total = sum([file.n_bytes for file in files])
    print(f"{name}: {total:,} bytes")
    for file, sha256 in zip(files, digests, strict=True):
        print(f"  {file.path}")
        print(f"    sha256 {sha256}")
        if file.md5 is not None:
            print(f"    md5 {file.md5}, as published")


def print_models(text: str, *, as_json: bool) -> None:
    """
    A line for each model whose name, language or domain has the text; of one model, and
    in JSON, all that is known.
    """
    found = _with(text)
    if not found:
        raise InputError(
            f"expected a part of a model's name, language or domain, got {text!r}",
            hint="`elmo-tasks models` lists all models",
        )
    if as_json:
        models = [_record(name, model) for name, model in found.items()]
        print_document({"cache": cache_folder(), "models": models})
        return
    rows: list[tuple[str, ...]] = [_HEADER]
    for name, model in found.items():
        rows.append(_row(name, model))
    _print_table(rows)
    print(f"* in the cache, {cache_folder()}")
    if len(found) == 1:
        for name, model in found.items():
            _print_details(name, model)


def _with(text: str) -> dict[str, PublishedModel]:
    text = text.lower()
    found = {}
    for name, model in {BUNDLED: BUNDLED_MODEL, **MODELS}.items():
        names = [name, *model.aliases]
        if text in names:
            return {name: model}
        searched = " ".join([*names, model.language, model.domain]).lower()
        if text in searched:
            found[name] = model
    return found


def _row(name: str, model: PublishedModel) -> tuple[str, ...]:
    if name != BUNDLED and _cached(cached_files(model)) == "yes":
        name += " *"
    domain = shorten(model.domain, _DOMAIN_WIDTH, placeholder=" ...")
    dimension = str(model.dimension or _UNKNOWN)
    return name, model.language, dimension, domain or _UNKNOWN


def _record(name: str, model: PublishedModel) -> dict[str, Any]:
    """All that is known of a model."""
    known = asdict(model)
    known["files"] = cached_files(model)
    del known["md5"]  # which the files have
    if name == BUNDLED:
        known["files"] = embedded_bilm()
    return {"name": name, **known}


def _size(model: PublishedModel) -> str | None:
    """Of the files, if they are there; else of the parameters, four bytes each."""
    files = cached_files(model)
    if not files:
        megabytes = sum([path.stat().st_size for path in embedded_bilm()]) / 10**6
    elif _cached(files) == "yes":
        megabytes = sum([file.n_bytes for file in files]) / 10**6
    elif model.millions is not None:
        megabytes = 4 * model.millions
    else:
        return None
    return f"{megabytes:,.0f} MB"


def _cached(files: Sequence[CachedFile]) -> str:
    there = [file for file in files if file.is_there]
    if len(there) == len(files):
        return "yes"
    if there:
        return "partly"
    return "no"


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = []
        for name, cell, width in zip(_HEADER, row, widths, strict=True):
            cells.append(cell.rjust(width) if name == "DIM" else cell.ljust(width))
        print("  ".join(cells).rstrip())


def _print_details(name: str, model: PublishedModel) -> None:
    for alias in model.aliases:
        print(f"also named: {alias}")
    print(f"kind: {model.source}")
    print(f"trained on: {model.text}")
    if model.millions is not None:
        print(f"parameters: {model.millions} million")
    size = _size(model)
    if size is not None:
        print(f"size: {size}")
    print(f"licence: {_licence(model)}")
    if name == BUNDLED:
        print("comes with the package")
        for path in embedded_bilm():
            print(f"file: {path}")
        return
    files = cached_files(model)
    print(f"in the cache: {_cached(files)}")
    for file in files:
        print(f"file: {file.url}")
        if file.md5 is not None:
            print(f"  md5 {file.md5}, as published")
        if file.is_there:
            print(f"  {file.path}")


def _licence(model: PublishedModel) -> str:
    if model.licence is None:
        return "not stated by the publisher, as far as is known here"
    return f"{model.licence}, see {model.licence_page}"
