"""
Which models a training has used: `model.json`, beside the config of a run and in its
archive, alone says so. A trained model opens only with these files.

It is a list with an object for each model: its `kind`, and under `files`, by the keys of
the config, the `name` that the config gave, the `sha256`, and the `path` where the file
was. A relative path is that of a copy in the folder of `model.json` itself, which
`archive: true` makes. A biLM that is tuned has an `ancestry`, too: see `ModelFiles`.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from elmo_tasks.bilm.ancestry import ancestry_of_json, ancestry_to_json
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.elmo.models.files import File, ModelFiles, files_of, is_remote
from elmo_tasks.elmo.models.folders import path_sha256
from elmo_tasks.elmo.models.kinds import two_files
from elmo_tasks.elmo.sources.types import BILM, INFERRED, SOURCES, SourceSettings
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.published import BUNDLED
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.formats.unpacking import MOST_RATIO
from elmo_tasks.resources import embedded_bilm
from elmo_tasks.system.files import atomic_write_folder, write_text
from elmo_tasks.system.run_names import MODEL_COPIES, MODEL_RECORD

_SMALL = 2**24  # bytes of a biLM that any archive may have
_MOST_OPTIONS = 2**20  # bytes of `options.json`


def record_models(folder: Path, models: Sequence[ModelFiles]) -> None:
    """
    Write `model.json`, and the copies of models with `contents`, to the folder of a
    run. Raises `InputError` if it cannot be written.
    """
    if not models:
        return
    records: list[dict[str, Any]] = []
    for number, model in enumerate(models):
        copies = f"{MODEL_COPIES}/{number}"
        if model.contents is not None:
            _write_copies(folder / copies, model.contents.files)
        record: dict[str, Any] = {
            "kind": model.kind,
            "files": _to_json(model, copies),
        }
        if model.ancestry:
            record["ancestry"] = ancestry_to_json(model.ancestry)
        records.append(record)
    write_text(folder / MODEL_RECORD, json.dumps(records, indent=1) + "\n")


def _to_json(model: ModelFiles, copies: str) -> dict[str, dict[str, str]]:
    found = {}
    for key, file in model.files.items():
        values = {"name": file.name, "sha256": file.sha256}
        if model.contents is not None:
            values["path"] = f"{copies}/{model.contents.names[key]}".rstrip("/")
        elif file.name != BUNDLED:
            values["path"] = str(file.path)
        found[key] = values
    return found


def _write_copies(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.parent.mkdir(exist_ok=True)
    with atomic_write_folder(folder) as aside:
        for name, content in files.items():
            (aside / name).parent.mkdir(parents=True, exist_ok=True)
            (aside / name).write_bytes(content)


def read_record(folder: Path) -> list[ModelFiles]:
    """
    The models that the training in the folder of a run, or of an unpacked archive, has
    used, with the paths where they were; none if it has no `model.json`. Raises
    `InputError` if that is damaged.
    """
    file = folder / MODEL_RECORD
    if not file.is_file():
        return []
    found = read_json(file, "the models of a training")
    if not isinstance(found, list):
        raise InputError("expected a list of models", file=file)
    try:
        return [_of_json(one, folder) for one in found]
    except (TypeError, LookupError, AttributeError, ValueError):
        raise InputError(
            "expected models with kind and files, each with name and sha256", file=file
        ) from None


def _of_json(given: Any, folder: Path) -> ModelFiles:
    """Raises one of Python's errors if something is missing or has another type."""
    kind = given["kind"]
    files = {}
    for key, values in given["files"].items():
        path = _bundled_path(key)
        if "path" in values:
            path = folder / values["path"]
        if not isinstance(values["name"], str) or not isinstance(values["sha256"], str):
            raise TypeError("expected texts")
        files[key] = File(values["name"], path, values["sha256"])
    if not isinstance(kind, str) or not files:
        raise TypeError("expected a kind and its files")
    if kind in SOURCES and files.keys() != SOURCES[kind].files.keys():
        raise TypeError("expected the files of the kind")
    ancestry = ancestry_of_json(given.get("ancestry", []), folder / MODEL_RECORD)
    return ModelFiles(kind, files, ancestry=ancestry)


def _bundled_path(key: str) -> Path:
    options_file, weight_file = embedded_bilm()
    return options_file if key == "options_file" else weight_file


def trained_files(
    settings: SourceSettings, folder: Path, *, where: str = "", offline: bool = False
) -> ModelFiles:
    """
    The files of the model of a config, for a trained model in the folder of its run or
    unpacked archive. They are looked for, by their digests, where they were last, among
    the bundled files, and at the name in the config. If there is no `model.json`, or
    another name was given since the training, only at that name.

    Raises `InputError` if a file is not found or is not that of the training; `where`
    and `offline` are those of `files_of`.
    """
    records = read_record(folder)
    if not records:
        return files_of(settings, where=where, offline=offline)
    keys = ["model"]
    if settings.model is None:
        keys = list(records[0].files)
    keys = [f"{where}{key}" for key in keys]
    record = _named_as(records, settings)
    if record is not None:
        recorded_files = _found(record, settings, keys, offline=offline)
        if folder in recorded_files.weight_file.path.parents:
            _require_bounded(recorded_files)
        return recorded_files
    files = files_of(settings, where=where, offline=offline)
    require_recorded(files, records, _hint(records[0], keys))
    return files


def _hint(record: ModelFiles, keys: list[str]) -> str:
    return f"set {' and '.join(keys)} to the files of that {record.label}"


def _named_as(
    records: Sequence[ModelFiles], settings: SourceSettings
) -> ModelFiles | None:
    """The record of the model that has the names of a config, if there is one."""
    for record in records:
        if settings.source not in (None, record.kind):
            continue
        if settings.source is None and record.kind not in INFERRED:
            continue  # an archive must not choose a source that runs code
        if _names(settings, record) == [file.name for file in record.files.values()]:
            return record
    return None


def _names(settings: SourceSettings, record: ModelFiles) -> list[str]:
    """What a config calls the files of a model of the recorded kind."""
    names = list(settings.file_names().values()) or [BUNDLED] * len(record.files)
    if settings.model is not None:
        model = os.fspath(settings.model)
        names = [model] * len(record.files)
        pair = two_files(model)
        if pair is not None:
            names = list(pair[1].values())
    return names


def _found(
    record: ModelFiles, settings: SourceSettings, keys: list[str], *, offline: bool
) -> ModelFiles:
    """The files of a recorded model on this machine; `keys` are for errors."""
    files = {}
    lacking = []
    for key, file in record.files.items():
        path = _equal_path(record, key, [file.path, _bundled_path(key)])
        if path is None:
            lacking.append(key)
        else:
            files[key] = File(file.name, path, file.sha256)
    if lacking:
        try:
            here = files_of(settings.of_kind(record.kind), offline=offline)
        except InputError as error:
            raise _missing(record, lacking[0], keys, error) from None
        if here.kind == record.kind:
            files = {**here.files, **files}
        completed = ModelFiles(here.kind, files)
        require_recorded(completed, [record], _hint(record, keys))
        return completed
    return ModelFiles(record.kind, files)


def _equal_path(record: ModelFiles, key: str, paths: Iterable[Path]) -> Path | None:
    """The first of the paths that has the file or the folder of a recorded model."""
    for path in paths:
        if record.kind in SOURCES and (path.is_file() or path.is_dir()):
            with suppress(InputError):  # of a folder that lacks files
                if path_sha256(record.kind, path) == record.files[key].sha256:
                    return path.absolute()
    return None


def found_files(folder: Path) -> Iterator[tuple[str, str, Path | None]]:
    """
    Of each file in the `model.json` of a folder: what it is, its name in the config, and
    where it is on this machine, if it is there.
    """
    for record in read_record(folder):
        for key, file in record.files.items():
            path = _equal_path(record, key, [file.path, _bundled_path(key)])
            yield SOURCES[record.kind].files[key], file.name, path


def require_recorded(
    files: ModelFiles, records: Sequence[ModelFiles], hint: str
) -> None:
    """
    Raises `InputError`, which names each file that differs and ends with the hint,
    unless the files are those of one of the models that a training has used.
    """
    if not records:
        return
    for record in records:
        if record.kind == files.kind and record.sha256 == files.sha256:
            return
    record = records[0]
    if record.kind != files.kind:
        problem = f"expected the source {record.kind}, on which this model was trained"
        raise InputError(f"{problem}, got {files.kind}", hint=hint)
    differing = []
    for key, what in SOURCES[files.kind].files.items():
        expected = record.files[key].sha256
        if files.files[key].sha256 != expected:
            differing.append(
                f"{what}: expected sha256 {expected}, got {files.files[key]}"
            )
    problem = f"this model was trained on another {record.label}"
    raise InputError(f"{problem}: {'; '.join(differing)}", hint=hint)


def _missing(
    record: ModelFiles, key: str, keys: list[str], error: InputError
) -> InputError:
    """
    The error for a file that is nowhere; a model that was moved has other paths for all
    keys.
    """
    file = record.files[key]
    if is_remote(file.name):
        return error
    what = SOURCES[record.kind].files[key]
    options = ", ".join([f'"{one}": "PATH"' for one in keys])
    return InputError(
        f"no such file: {what}, on which this model was trained; its sha256 is "
        f"{file.sha256}",
        file=file.name,
        hint=f"restore it, or pass where it is now: -o '{{{options}}}'",
    )


def _require_bounded(files: ModelFiles) -> None:
    """
    Raises `InputError` if the biLM in an archive claims to be far larger than its files.
    """
    if files.kind != BILM:
        return
    options = files.options_file.path
    if options.stat().st_size > _MOST_OPTIONS:
        problem = f"expected options of a biLM, got {options.stat().st_size:,} bytes"
        raise InputError(problem, file=options)
    found = BiLMOptions.from_file(options)
    needed = found.n_parameters * np.float32().nbytes
    if needed > max(_SMALL, MOST_RATIO * files.weight_file.path.stat().st_size):
        problem = f"its biLM claims {found.n_parameters:.4g} parameters"
        raise InputError(f"{problem}, more than the archive can hold", file=options)
