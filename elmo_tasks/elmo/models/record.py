"""
Which models a training has used: `model.json`, beside the config of a run and in its
archive, alone says so. A trained model opens only with these models.

It is a list with an object for each model: its `kind`, the `name` that the config gave,
the `sha256` of its files, and under `paths`, by the keys of the config, where they were.
A relative path is that of a copy in the folder of `model.json` itself, which
`archive: true` makes. A biLM that is tuned has an `ancestry`, too: see `ModelFiles`.
"""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from elmo_tasks.bilm.options import ancestry_of_json, ancestry_to_json
from elmo_tasks.elmo.models.files import (
    ModelFiles,
    bundled,
    files_of,
    is_remote,
    located,
)
from elmo_tasks.elmo.sources.types import BILM, SOURCES, SourceSettings
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.published import BUNDLED
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.settings import validated
from elmo_tasks.system.files import atomic_write_folder, write_text
from elmo_tasks.system.run_names import MODEL_COPIES, MODEL_RECORD


class _Record(TypedDict):
    kind: str
    name: str
    sha256: str
    paths: dict[str, str]
    ancestry: NotRequired[list[Any]]


_RECORDS = TypeAdapter(list[_Record])


def record_models(folder: Path, models: Sequence[ModelFiles]) -> None:
    """
    Write `model.json`, and the copies of models with `contents`, to the folder of a
    run. Raises `InputError` if it cannot be written.
    """
    if not models:
        return
    records: list[_Record] = []
    for number, model in enumerate(models):
        paths = {key: str(path) for key, path in model.paths.items()}
        if model.contents is not None:
            copies = f"{MODEL_COPIES}/{number}"
            (folder / MODEL_COPIES).mkdir(exist_ok=True)
            with atomic_write_folder(folder / copies) as aside:
                for name, content in model.contents.files.items():
                    (aside / name).parent.mkdir(parents=True, exist_ok=True)
                    (aside / name).write_bytes(content)
            for key, place in model.contents.places.items():
                paths[key] = os.path.join(copies, place)
        record: _Record = {
            "kind": model.kind,
            "name": model.name,
            "sha256": model.sha256,
            "paths": paths,
        }
        if model.ancestry:
            record["ancestry"] = ancestry_to_json(model.ancestry)
        records.append(record)
    write_text(folder / MODEL_RECORD, json.dumps(records, indent=1) + "\n")


def read_record(folder: Path) -> list[ModelFiles]:
    """
    The models that the training in the folder of a run, or of an unpacked archive, has
    used, with the paths where they were; none if it has no `model.json`. Raises
    `InputError` if that is damaged.
    """
    file = folder / MODEL_RECORD
    if not file.is_file():
        return []
    given = read_json(file, "the models of a training")
    found = []
    for one in validated(_RECORDS, given, "models", file=file):
        kind = one["kind"]
        paths = {key: folder / path for key, path in one["paths"].items()}
        if kind in SOURCES and paths.keys() != SOURCES[kind].files.keys():
            raise InputError(f"expected the files of a {kind}", file=file)
        ancestry = ancestry_of_json(one.get("ancestry", []), file)
        found.append(
            ModelFiles(kind, one["name"], paths, one["sha256"], ancestry=ancestry)
        )
    return found


def trained_files(
    settings: SourceSettings, folder: Path, *, where: str = "", offline: bool = False
) -> ModelFiles:
    """
    The files of the model of a config, for a trained model in the folder of its run or
    unpacked archive. They are looked for, by their digest, where they were last, among
    the bundled files, and at the name in the config. If there is no `model.json`, or
    another name was given since the training, only at that name.

    Raises `InputError` if the model is not found or is not that of the training;
    `where` and `offline` are those of `files_of`.
    """
    records = read_record(folder)
    record = _named_as(records, settings)
    if record is None:
        files = files_of(settings, where=where, offline=offline)
        require_recorded(files, records, _hint(where))
        return files
    found = _found(record)
    if found is None:
        try:
            given = settings.of_kind(record.kind)
            found = files_of(given, where=where, offline=offline)
        except InputError:
            if is_remote(record.name):
                raise
            problem = (
                "no such model, on which this model was trained; its sha256 is"
                f" {record.sha256}"
            )
            raise InputError(problem, file=record.name, hint=_hint(where)) from None
        require_recorded(found, [record], _hint(where))
    return found


def _named_as(
    records: Sequence[ModelFiles], settings: SourceSettings
) -> ModelFiles | None:
    """The record of the model that has the name of a config, if there is one."""
    name = "+".join(settings.file_names().values()) or BUNDLED
    if settings.model is not None:
        name = os.fspath(settings.model)
    for record in records:
        is_ours = record.kind in SOURCES and SOURCES[record.kind].is_ours
        if settings.source is None and not is_ours:
            continue  # an archive must not choose a source that runs code
        is_chosen = settings.source in (None, record.kind)
        if is_chosen and name == record.name:
            return record
    return None


def _found(record: ModelFiles) -> ModelFiles | None:
    """The files of a recorded model, if they are where they were or are bundled."""
    places = [record.paths]
    if record.kind == BILM:
        places.append(bundled().paths)
    for paths in places:
        is_there = all(path.is_file() or path.is_dir() for path in paths.values())
        if record.kind in SOURCES and is_there:
            files = located(record.kind, record.name, paths)
            if files.sha256 == record.sha256:
                return files
    return None


def found_files(folder: Path) -> Iterator[tuple[str, str, Path | None]]:
    """
    Of each model in the `model.json` of a folder: what it is, its name in the config,
    and where it is on this machine, if it is there.
    """
    for record in read_record(folder):
        found = _found(record)
        yield record.label, record.name, None if found is None else found.weight_file


def require_recorded(
    files: ModelFiles, records: Sequence[ModelFiles], hint: str
) -> None:
    """
    Raises `InputError`, which ends with the hint, unless the files are those of one of
    the models that a training has used.
    """
    if not records:
        return
    for record in records:
        if (record.kind, record.sha256) == (files.kind, files.sha256):
            return
    record = records[0]
    problem = f"this model was trained on another {record.label}"
    expected = f"expected sha256 {record.sha256}, got {files.label} {files.sha256}"
    raise InputError(f"{problem}: {expected}", file=files.weight_file, hint=hint)


def _hint(where: str) -> str:
    """What to do where a model is not found."""
    change = f'{{"{where}model": "PATH"}}'
    return f"restore it, or pass where it is now: -o '{change}' (Python: overrides=)"
