"""
Opening a source of layers: its files are found, also those of a trained model, and
loaded.
"""

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from elmo_tasks.elmo.allocation import not_counted
from elmo_tasks.elmo.model_names import with_source
from elmo_tasks.elmo.source_files import (
    File,
    SourceFiles,
    archived_contents,
    remembered,
    trained_on,
)
from elmo_tasks.elmo.source_types import (
    BILM,
    EMBEDDED,
    FILE_KEYS,
    SOURCES,
    LayerSource,
    SourceSettings,
)
from elmo_tasks.elmo.transformer_files import (
    find_model,
    folder_sha256,
    model_files,
    pack,
    unpack,
)
from elmo_tasks.errors import InputError
from elmo_tasks.files import file_sha256
from elmo_tasks.formats.bilm_files import weight_format, written_names
from elmo_tasks.formats.fetch import bilm_file, local_path
from elmo_tasks.resources import embedded_bilm
from elmo_tasks.run_names import CONFIG


def open_source(
    settings: SourceSettings,
    *,
    run_folder: str | None = None,
    names: Mapping[str, str] | None = None,
) -> tuple[LayerSource, SourceFiles]:
    """
    Load a source of layers, which `Layers` freezes, and describe where it came from;
    for `names` see `SourceFiles`.

    `run_folder` is that of a trained model, which knows the digests of its files. A
    file is then searched at the given path, where this user's trainings last had one
    with the digest, and among the contents inside the archive. Raises `InputError` if a
    file is missing or invalid.
    """
    names = names or {}
    if settings.model is not None:
        # Whatever its files are, the config and the command line call them so.
        names = {**names, **dict.fromkeys(FILE_KEYS, names.get("model", "model"))}
        settings = with_source(settings, run_folder)
    name = settings.kind or BILM
    kind = SOURCES[name]
    given = settings.given()
    trained = None
    if run_folder is not None:
        trained = trained_on(given, run_folder)
    with tempfile.TemporaryDirectory() as temporary:
        search = _Search(name, given, trained, run_folder, Path(temporary))
        files = {}
        paths = []
        for key in given:
            found = search.find(key)
            if found is None:
                raise search.missing(key, names)
            files[key], path = found
            paths.append(path)
        options = {key: getattr(settings, key) for key in kind.options}
        with not_counted():
            opened = kind.load(*paths, **options)
        contents = {}
        if settings.archive:
            for key, path in zip(given, paths, strict=True):
                contents[key] = _contents(path)
    return opened, SourceFiles(name, files, contents, names)


@dataclass
class _Search:
    """For the files of one source, by their keys."""

    source: str
    given: Mapping[str, str]
    trained: SourceFiles | None
    run_folder: str | None
    temporary: Path
    failures: dict[str, InputError] = field(default_factory=dict)
    """Why the URL or the model of a key could not be fetched."""

    def find(self, key: str) -> tuple[File, Path] | None:
        """
        The file and where to read it. For a trained model, the first one with its
        digest: at the given path, where it was last, in the archive; else what is at
        the given path, which the model then refuses. `None` if nothing is there.
        """
        here = self._at(key, self.given[key], self.given[key])
        if self.trained is None:
            return here
        expected = self.trained.files[key]
        if here is not None and here[0].sha256 == expected.sha256:
            return here
        last = remembered(expected.sha256)
        if last is not None:
            there = self._at(key, expected.given, last)
            if there is not None and there[0].sha256 == expected.sha256:
                return there
        unpacked = self._unpacked(key)
        if unpacked is not None:
            return expected, unpacked
        return here

    def _at(self, key: str, given: str, place: str) -> tuple[File, Path] | None:
        """The file at a path, a URL or a name, if there is one."""
        try:
            path = _find(self.source, key, place)
        except InputError as error:
            if place == self.given[key]:
                self.failures[key] = error
            return None
        if not path.is_file() and not (path / CONFIG).is_file():
            is_given = place == self.given[key]
            if is_given and key != "model" and path.exists():
                self.failures[key] = _no_file(path)
            return None
        where = place if "://" in place else os.path.abspath(path)
        return File(given, _sha256(path), where), path

    def _unpacked(self, key: str) -> Path | None:
        """The file from the contents in the archive, in the temporary folder."""
        content = self._archived.get(key)
        if content is None:
            return None
        if key == "model":
            unpack(content, self.temporary)
            return self.temporary
        path = self.temporary / key
        content.numpy().tofile(path)
        return path

    @cached_property
    def _archived(self) -> Mapping[str, Tensor]:
        """The contents of the files inside the archive, by their keys; uint8."""
        if self.run_folder is None:
            return {}
        if self.trained is not None and self.trained.contents:
            return self.trained.contents
        return archived_contents(self.given, self.run_folder)

    def missing(self, key: str, names: Mapping[str, str]) -> InputError:
        """
        The error for a file that is nowhere; a moved biLM has other paths for all keys.
        """
        if key in self.failures:
            return self.failures[key]
        what = SOURCES[self.source].files[key]
        given = self.given[key]
        if self.trained is None:
            hint = f"set {names.get(key, key)}"
            if not os.path.isabs(given):
                hint += f"; relative paths start from {os.getcwd()}"
            return InputError(f"no such file: {what}", file=given, hint=hint)
        problem = f"no such file: {what}, on which this model was trained"
        keys = dict.fromkeys([names.get(one, one) for one in self.given])
        places = [f'"{one}": "PATH"' for one in keys]
        hint = "restore it, or pass where it is now: "
        hint += f"-o '{{{', '.join(places)}}}'"
        digest = self.trained.files[key]
        return InputError(f"{problem}; its {digest}", file=given, hint=hint)


def copy_files(source: SourceFiles, folder: Path) -> None:
    """
    Write the files of a source to a folder that is the name of a model. Raises
    `InputError` if they have changed.
    """
    paths = local_files(source)
    for key, file in source.files.items():
        path = paths[key]
        if _sha256(path) != file.sha256:
            problem = "the file has changed since it was opened"
            raise InputError(f"{problem}; its sha256 was {file.sha256}", file=file.path)
        if path.is_dir():
            unpack(pack(path), folder)
        else:
            shutil.copy(path, folder / _copied_name(key, paths))


def copied_names(source: SourceFiles) -> list[str]:
    """The names of the files that `copy_files` writes."""
    paths = local_files(source)
    names = []
    for key, path in paths.items():
        if path.is_dir():
            names += [file.name for file in model_files(path)]
        else:
            names.append(_copied_name(key, paths))
    return names


def _copied_name(key: str, paths: Mapping[str, Path]) -> str:
    """The name of a file's copy: that of a biLM's file, for its keys."""
    names = written_names("hdf5")
    if "weight_file" in paths:
        names = written_names(weight_format(paths["weight_file"]))
    return names.get(key, paths[key].name)


def local_files(source: SourceFiles) -> dict[str, Path]:
    """
    Where the files of an opened source are on this machine, by their keys. Raises
    `InputError` if they are in an archive.
    """
    paths = {}
    for key, file in source.files.items():
        if not file.path:
            raise InputError("its files exist only in its archive", file=file.public)
        paths[key] = _find(source.name, key, file.path)
    return paths


def _find(source: str, key: str, place: str) -> Path:
    """
    The local path of a path, URL or name. Raises `InputError` if it cannot be fetched.
    """
    if key == "model":
        return find_model(place)
    if source != BILM:
        return local_path(place)
    if place.startswith(EMBEDDED):
        return embedded_bilm()[0].with_name(place.removeprefix(EMBEDDED))
    return bilm_file(place, key)


def _no_file(path: Path) -> InputError:
    """The error for something else in the place of a file."""
    got = "a folder" if path.is_dir() else "a pipe or a device"
    return InputError(f"expected a file, got {got}", file=path)


def _sha256(path: Path) -> str:
    return folder_sha256(path) if path.is_dir() else file_sha256(path)


def _contents(path: Path) -> Tensor:
    """The bytes of a file, or of the files of a transformer, uint8."""
    if path.is_dir():
        return pack(path)
    return torch.from_numpy(np.fromfile(path, np.uint8))
