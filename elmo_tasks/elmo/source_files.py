"""
The files of a source of layers: what a trained model remembers of them, and where this
user last had them.
"""

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from torch import Tensor

from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.elmo.source_types import (
    BILM,
    EMBEDDED,
    FILE_KEYS,
    INFERRED,
    SOURCES,
)
from elmo_tasks.errors import InputError, portable, without_secrets
from elmo_tasks.files import write_text
from elmo_tasks.formats.cache_folder import cache_folder
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.formats.unpacking import MOST_RATIO
from elmo_tasks.run_names import SOURCE_FILES, STATE_FILES

STATE_KEY = "_extra_state"
"""The suffix of torch's name for what a module adds to the state."""

_SMALL = 2**24  # bytes of a biLM that any archive may have
_MOST_OPTIONS = 2**20  # bytes of `options.json`


@dataclass(frozen=True)
class File:
    """
    A file or a folder: the path, URL or name in the config, the sha256, and the
    absolute path or URL where it was found. A trained model remembers no path of the
    machine where it was trained; see `remember`.
    """

    given: str
    sha256: str
    path: str = ""

    def __str__(self) -> str:
        return f"sha256 {self.sha256} ({self.path or self.public})"

    @property
    def public(self) -> str:
        """
        What files for others say of it: its name or URL without a key, a relative path,
        or the last part of one.
        """
        given = without_secrets(self.given)
        if os.path.isabs(os.path.expanduser(given)):
            return os.path.basename(given)
        return given


@dataclass(frozen=True)
class SourceFiles:
    """
    The files of an opened source, by their keys in the config: the two of a biLM, the
    folder of a transformer.

    # Parameters

    - `name`: the value of `source` in the config.
    - `contents`: the bytes of each file, uint8, for a model whose archive has them.
    - `names`: what errors call the keys, if not by their own names.
    """

    name: str
    files: Mapping[str, File]
    contents: Mapping[str, Tensor] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What messages and tables call the kind of source."""
        return SOURCES[self.name].label

    @property
    def weight_file(self) -> File:
        """The weights; a transformer's folder."""
        present = [key for key in FILE_KEYS if key in self.files]
        return self.files[present[-1]]

    @property
    def options_file(self) -> File:
        """A biLM's options; of a source of one file or folder, this one."""
        present = [key for key in FILE_KEYS if key in self.files]
        return self.files[present[0]]

    def given(self) -> dict[str, str]:
        """The paths, URLs or names of the config, as a trained model remembers them."""
        return {key: portable(file.given) for key, file in self.files.items()}

    def to_record(self) -> dict[str, Any]:
        """
        What stands beside the config of a training, as JSON; `remember` notes where the
        files are.
        """
        given = self.given()
        files = {}
        for key, file in self.files.items():
            remember(file)
            files[key] = {"given": given[key], "sha256": file.sha256}
        return {"source": self.name, "files": files}

    def to_state(self) -> dict[str, Any]:
        """
        The record and the contents: texts and tensors, which `torch.load` reads without
        running code.
        """
        return self.to_record() | {"contents": dict(self.contents)}

    @classmethod
    def from_record(cls, record: Any) -> "SourceFiles":
        """Raises `InputError` if it is not what `to_record` or `to_state` returns."""
        try:
            name = record["source"]
            files = {}
            for key, file in record["files"].items():
                files[key] = File(given=file["given"], sha256=file["sha256"])
            contents = dict(record.get("contents", {}))
        except (TypeError, LookupError, AttributeError, ValueError):
            raise _unknown_record() from None
        texts = [name]
        for file in files.values():
            texts += [file.given, file.sha256]
        is_text = all(isinstance(text, str) for text in texts)
        has_contents = all(_is_content(content) for content in contents.values())
        if not is_text or not has_contents:
            raise _unknown_record()
        if name in SOURCES and files.keys() != SOURCES[name].files.keys():
            raise _unknown_record()
        return cls(name, files, contents)

    def require_bounded(self, packed: int) -> None:
        """
        Raises `InputError` if the biLM among the contents claims to be far larger than
        an archive of this size.
        """
        options = self.contents.get("options_file")
        if options is None or self.name != BILM:
            return
        if len(options) > _MOST_OPTIONS:
            raise InputError(f"expected options of a biLM, got {len(options):,} bytes")
        found = BiLMOptions.from_dict(json.loads(options.numpy().tobytes()))
        needed = found.n_parameters * np.float32().nbytes
        if needed > max(_SMALL, MOST_RATIO * packed):
            problem = f"its biLM claims {found.n_parameters:.4g} parameters"
            raise InputError(f"{problem}, more than the archive can hold")

    def require_same(self, *trained: "SourceFiles") -> None:
        """
        Raise `InputError` naming each file that differs, unless the files belong to a
        trained model.
        """
        if not trained:
            return
        for one in trained:
            if one.name == self.name and not self._differing(one):
                return
        first = trained[0]
        if first.name != self.name:
            raise self._other_source(first)
        named = dict.fromkeys([self._named(key) for key in first.files])
        keys = " and ".join(named)
        problem = f"this model was trained on another {self.label}:"
        problem += "".join(self._differing(first))
        raise InputError(problem, hint=f"set {keys} to that {self.label}'s files")

    def _other_source(self, trained: "SourceFiles") -> InputError:
        places = []
        for key, file in trained.files.items():
            places.append(f"{self._named(key)} to the one with {file}")
        hint = f"set {self._named('source')} to {trained.name}, and "
        hint += " and ".join(places)
        problem = f"expected the source {trained.name}, on which this model was trained"
        return InputError(f"{problem}, got {self.name}", hint=hint)

    def _named(self, key: str) -> str:
        return self.names.get(key, key)

    def _differing(self, trained: "SourceFiles") -> list[str]:
        """
        A line for each file that is not that of the trained model, which has the same
        source.
        """
        lines = []
        for key, what in SOURCES[self.name].files.items():
            expected = trained.files[key]
            if expected.sha256 != self.files[key].sha256:
                lines.append(f"\n  {what}: expected {expected}, got {self.files[key]}")
        return lines


def _is_content(value: object) -> bool:
    """
    Whether it is a file's bytes; a tensor may also claim one byte to be any number of
    them.
    """
    if not isinstance(value, Tensor):
        return False
    return value.dtype == torch.uint8 and value.dim() == 1 and value.is_contiguous()


def _unknown_record() -> InputError:
    return InputError(
        "the model's state names no biLM: was it written by another version?"
    )


def trained_on(given: Mapping[str, str], run_folder: str | Path) -> SourceFiles | None:
    """
    The files of the model in the folder of a run, or of an unpacked archive, whose
    config gave these paths; `None` if there is none. They stand beside the config. An
    archive that AllenNLP has written has no such file, and a model whose archive holds
    the contents has them in its weights alone: these are read then.
    """
    folder = Path(run_folder)
    recorded = _matching(given, _beside_the_config(folder))
    if recorded is not None:
        return recorded
    return _matching(given, _in_the_weights(folder))


def recorded_source(model: str, run_folder: str | Path) -> str | None:
    """
    The source of the model in the folder of a run, or of an unpacked archive, whose
    config gave this name of a whole model; `None` if there is none, or if it is a
    source that is never inferred.
    """
    folder = Path(run_folder)
    for recorded in (_beside_the_config, _in_the_weights):
        for files in recorded(folder):
            is_given = set(files.given().values()) == {portable(model)}
            if is_given and files.name in INFERRED:
                return files.name
    return None


def archived_contents(
    given: Mapping[str, str], run_folder: str | Path
) -> dict[str, Tensor]:
    """The contents of the files in the weights of a model, by their keys; uint8."""
    found = _matching(given, _in_the_weights(Path(run_folder)))
    return {} if found is None else dict(found.contents)


def _matching(given: Mapping[str, str], found: list[SourceFiles]) -> SourceFiles | None:
    expected = {key: portable(path) for key, path in given.items()}
    for files in found:
        if files.given() == expected:
            return files
    return None


def _beside_the_config(folder: Path) -> list[SourceFiles]:
    file = folder / SOURCE_FILES
    if not file.is_file():
        return []
    records = read_json(file, "the digests of a model's frozen sources")
    if not isinstance(records, list):
        raise InputError("expected a list of frozen sources", file=file)
    return [SourceFiles.from_record(record) for record in records]


def _in_the_weights(folder: Path) -> list[SourceFiles]:
    for name in STATE_FILES:
        path = folder / name
        if not path.is_file():
            continue
        try:
            state = torch.load(path, map_location="cpu", mmap=True, weights_only=True)
        except (OSError, RuntimeError, EOFError, UnpicklingError):
            return []  # loading the model's state reports what is wrong with it
        if not isinstance(state, Mapping):
            return []
        return sources_in(state)
    return []


def sources_in(state: Mapping[str, Any]) -> list[SourceFiles]:
    """
    The files of the frozen sources of a model, from its state. Raises `InputError` as
    `from_record` does.
    """
    found = []
    for key, value in state.items():
        if str(key).endswith(STATE_KEY) and value != {}:  # of a source without files
            found.append(SourceFiles.from_record(value))
    return found


def remember(file: File) -> None:
    """
    Note in the user's cache where a file with this digest is. A trained model has no
    path of the machine where it was trained, so that this is how an archive finds its
    files when it is opened in another folder.
    """
    is_elsewhere = "://" in file.path or file.given.startswith(EMBEDDED)
    if is_elsewhere or not file.path or remembered(file.sha256) == file.path:
        return
    with suppress(InputError):  # a cache that cannot be written
        write_text(_note(file.sha256), file.path)


def remembered(sha256: str) -> str | None:
    """
    Where a file with this digest was last, if a training of this user has noted it.
    """
    try:
        return _note(sha256).read_text("utf-8")
    except (OSError, ValueError):
        return None


def _note(sha256: str) -> Path:
    if not re.fullmatch("[0-9a-f]{64}", sha256):  # an archive says it
        raise ValueError("expected a SHA-256")
    return cache_folder() / "files" / sha256
