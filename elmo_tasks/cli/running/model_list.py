"""What `elmo-tasks models` prints of the published models."""

from collections.abc import Sequence

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
    NOT_STATED,
    PublishedModel,
    aliases_of,
)
from elmo_tasks.resources import embedded_bilm
from elmo_tasks.system.files import file_sha256

_HEADER = (
    "NAME",
    "LANGUAGE",
    "DOMAIN",
    "SOURCE",
    "SIZE",
    "DIM",
    "LICENCE",
    "CHECKSUM",
    "CACHED",
    "ADDRESS",
)
_TO_THE_RIGHT = ("SIZE", "DIM")
_UNKNOWN = "-"


def download(name: str) -> None:
    """Downloads a model, and prints its files and their digests."""
    files = fetch_model(name)
    total = sum([file.n_bytes for file in files])
    print(f"{name}: {total:,} bytes")
    for file in files:
        print(f"  {file.path}")
        print(f"    sha256 {file_sha256(file.path)}")
        if file.md5 is not None:
            print(f"    md5 {file.md5}, as published")


def print_list(text: str) -> None:
    """
    A line for each model whose name, language or domain has the text; of one model,
    all that is known.
    """
    found = _with(text)
    if not found:
        raise InputError(
            f"expected a part of a model's name, language or domain, got {text!r}",
            hint="`elmo-tasks models` lists all models",
        )
    rows: list[tuple[str, ...]] = [_HEADER]
    for name, model in found.items():
        rows.append(_row(name, model))
    _print_table(rows)
    print(f"cache: {cache_folder()}")
    if len(found) == 1:
        for name, model in found.items():
            _print_details(name, model)


def _with(text: str) -> dict[str, PublishedModel]:
    text = text.lower()
    found = {}
    for name, model in {BUNDLED: BUNDLED_MODEL, **MODELS}.items():
        names = [name] + aliases_of(name)
        if text in names:
            return {name: model}
        searched = " ".join([*names, model.language, model.domain]).lower()
        if text in searched:
            found[name] = model
    return found


def _row(name: str, model: PublishedModel) -> tuple[str, ...]:
    files = cached_files(model)
    address = "comes with the package"
    if model.files:
        address = model.files[-1]
    return (
        name,
        model.language,
        model.domain or _UNKNOWN,
        model.source,
        _size(model),
        str(model.dimension or _UNKNOWN),
        model.licence.name,
        _checksum(files),
        _cached(files),
        address,
    )


def _size(model: PublishedModel) -> str:
    """Of the files, if they are there; else of the parameters, four bytes each."""
    files = cached_files(model)
    if not files:
        megabytes = sum([path.stat().st_size for path in embedded_bilm()]) / 10**6
    elif _cached(files) == "yes":
        megabytes = sum([file.n_bytes for file in files]) / 10**6
    elif model.millions is not None:
        megabytes = 4 * model.millions
    else:
        return _UNKNOWN
    return f"{megabytes:,.0f} MB"


def _checksum(files: Sequence[CachedFile]) -> str:
    if files and files[-1].md5 is not None:
        return "md5"
    return _UNKNOWN


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
            if name in _TO_THE_RIGHT:
                cells.append(cell.rjust(width))
            else:
                cells.append(cell.ljust(width))
        print("  ".join(cells).rstrip())


def _print_details(name: str, model: PublishedModel) -> None:
    for alias in aliases_of(name):
        print(f"also named: {alias}")
    print(f"trained on: {model.text}")
    if model.millions is not None:
        print(f"parameters: {model.millions} million")
    print(f"licence: {_licence(model)}")
    if name == BUNDLED:
        for path in embedded_bilm():
            print(f"file: {path}")
    for file in cached_files(model):
        print(f"file: {file.url}")
        if file.md5 is not None:
            print(f"  md5 {file.md5}, as published")
        if file.is_there:
            print(f"  {file.path}")


def _licence(model: PublishedModel) -> str:
    licence = model.licence
    if licence == NOT_STATED:
        return f"{licence.name} by the publisher, as far as is known here"
    return f"{licence.name}, see {licence.said_at}"
