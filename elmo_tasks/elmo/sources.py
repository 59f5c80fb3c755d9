"""The files of a source of layers: what a model's state remembers of them, and how they are found again."""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from torch import Tensor

from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.elmo.allocation import not_counted
from elmo_tasks.elmo.manylangs import WEIGHTS
from elmo_tasks.elmo.source_types import (
    BILM,
    EMBEDDED,
    FILE_KEYS,
    MANYLANGS,
    SOURCES,
    TRANSFORMER,
    LayerSource,
    SourceSettings,
)
from elmo_tasks.elmo.transformer_files import find_model, folder_sha256, pack, unpack
from elmo_tasks.errors import InputError, portable, without_secrets
from elmo_tasks.files import write_text
from elmo_tasks.formats.fetch import (
    HUB,
    NAMES,
    bilm_file,
    cache_folder,
    file_sha256,
    local_path,
    model_path,
)
from elmo_tasks.formats.models import MODELS
from elmo_tasks.formats.unpacking import MOST_RATIO
from elmo_tasks.resources import embedded_bilm
from elmo_tasks.run_names import OPTIONS_FILE, STATE_FILES

STATE_KEY = (
    "_extra_state"  # the suffix of torch's name for what a module adds to the state
)

_EARLIER_MARK = b"elmo_tasks biLM 1\n"
"""Begins the state of earlier versions: JSON and the contents of files as one uint8 tensor."""

_SMALL = 2**24  # bytes of a biLM that any archive may have
_MOST_OPTIONS = 2**20  # bytes of `options.json`

_Find = Callable[[str], Path]


@dataclass(frozen=True)
class File:
    """
    A file or a folder: the path, URL or name in the config, the absolute path or URL where it was found, and the
    sha256. In the state of a model the path is empty: see `remember`.
    """

    given: str
    path: str
    sha256: str

    def __str__(self) -> str:
        return f"sha256 {self.sha256} ({self.path or self.public})"

    @property
    def public(self) -> str:
        """What files for others say of it: its name or URL without a key, a relative path, or the last part of one."""
        given = without_secrets(self.given)
        is_absolute = os.path.isabs(os.path.expanduser(given))
        return os.path.basename(given) if is_absolute else given


@dataclass(frozen=True)
class SourceFiles:
    """The files of an opened source, by their keys in the config: the two of a biLM, the folder of a transformer."""

    name: str  # the value of `source` in the config
    files: Mapping[str, File]
    contents: Mapping[str, Tensor] = field(
        default_factory=dict
    )  # the bytes of each, uint8
    names: Mapping[str, str] = field(
        default_factory=dict
    )  # what errors call the keys, if not by their own names

    @property
    def label(self) -> str:
        return SOURCES[self.name].label

    @property
    def weight_file(self) -> File:
        """The weights; a transformer's folder."""
        return self.files[max(self.files, key=FILE_KEYS.index)]

    @property
    def auxiliary_file(self) -> File:
        """The other file: a biLM's options; a transformer's folder."""
        return self.files[min(self.files, key=FILE_KEYS.index)]

    def to_state(self) -> dict[str, Any]:
        """Texts and tensors, which `torch.load` reads without running code; `remember` notes where the files are."""
        for file in self.files.values():
            remember(file)
        files = {
            key: {"given": portable(file.given), "path": "", "sha256": file.sha256}
            for key, file in self.files.items()
        }
        return {"source": self.name, "files": files, "contents": dict(self.contents)}

    @classmethod
    def from_state(cls, state: Any) -> "SourceFiles":
        """Raises `InputError` if it is not what `to_state` returns in this version or an earlier one."""
        if isinstance(state, Tensor):
            return _from_earlier(state)
        try:
            files = {key: File(**file) for key, file in state["files"].items()}
            contents = dict(state["contents"])
        except (TypeError, KeyError, AttributeError, ValueError):
            raise _unknown_state() from None
        if not all(map(_is_content, contents.values())):
            raise _unknown_state()
        return cls(str(state["source"]), files, contents)

    def require_bounded(self, packed: int) -> None:
        """Raises `InputError` if the biLM among the contents claims to be far larger than an archive of this size."""
        options = self.contents.get("options_file")
        if options is None or self.name != BILM:
            return
        if len(options) > _MOST_OPTIONS:
            raise InputError(f"expected options of a biLM, got {len(options):,} bytes")
        found = BiLMOptions.from_dict(json.loads(options.numpy().tobytes()))
        needed = found.n_parameters * np.float32().nbytes
        if needed > max(_SMALL, MOST_RATIO * packed):
            problem = f"its biLM claims {found.n_parameters:.4g} parameters"
            raise InputError(f"{problem}, which the archive cannot hold")

    def require_same(self, *trained: "SourceFiles") -> None:
        """Raise `InputError` naming each file that differs, unless the files belong to a trained model."""
        if not trained or any(
            one.name == self.name and not self._differing(one) for one in trained
        ):
            return
        first = trained[0]
        if first.name != self.name:
            files = " and ".join(
                f"{self._named(key)} to that with {file}"
                for key, file in first.files.items()
            )
            hint = f"set {self._named('source')} to {first.name}, and {files}"
            raise InputError(
                f"this model was trained with the source {first.name}, got {self.name}",
                hint=hint,
            )
        keys = " and ".join(map(self._named, first.files))
        problem = f"this model was trained on another {self.label}:{''.join(self._differing(first))}"
        raise InputError(problem, hint=f"set {keys} to that {self.label}'s files")

    def _named(self, key: str) -> str:
        return self.names.get(key, key)

    def _differing(self, trained: "SourceFiles") -> list[str]:
        """A line for each file that is not that of the trained model, which has the same source."""
        return [
            f"\n  {what}: expected {trained.files[key]}, got {self.files[key]}"
            for key, what in SOURCES[self.name].files.items()
            if trained.files[key].sha256 != self.files[key].sha256
        ]


def open_source(
    settings: SourceSettings,
    *,
    run_folder: str | None = None,
    names: Mapping[str, str] | None = None,
) -> tuple[LayerSource, SourceFiles]:
    """
    Load a frozen source of layers and describe where it came from; for `names` see `SourceFiles`.

    Where a file of a trained model, whose state is in `run_folder`, is not at the given path, it is searched for where
    this user's trainings last had it, and among the contents inside the archive. Raises `InputError` if a file is
    missing or invalid.
    """
    kind, given, names = SOURCES[settings.source], settings.given(), names or {}
    trained = _trained_on(given, run_folder)
    with tempfile.TemporaryDirectory() as folder:
        files, paths = {}, []
        for key, path in given.items():
            find = _finder(settings.source, key)
            failures = list[InputError]()
            found = _locate(key, path, trained, Path(folder), find, failures)
            if found is None and failures:
                raise failures[0]
            if found is None:
                then = None if trained is None else trained.files[key]
                keys = [names.get(one, one) for one in given]
                raise _missing(keys, names.get(key, key), kind.files[key], path, then)
            files[key] = found[0]
            paths.append(found[1])
        with not_counted():
            opened = kind.load(
                *paths, **{key: getattr(settings, key) for key in kind.options}
            )
        contents = (
            dict(zip(given, map(_contents, paths), strict=True))
            if settings.archive
            else {}
        )
    opened = opened.eval().requires_grad_(False)
    return opened, SourceFiles(settings.source, files, contents, names)


def settings_of(model: str | Path) -> dict[str, Any]:
    """
    The keys of `model.elmo` for a whole model: the name of a published one, a folder, a ZIP, a URL or a repository of
    the hub; or for the weights of a biLM. Raises `InputError` if there is none.
    """
    text = os.fspath(model)
    if text.startswith(HUB) or (text in MODELS and MODELS[text].is_bilm):
        return {"weight_file": text}
    path = model_path(text)
    if not text or not os.path.exists(path):
        near = "".join(
            f"nearest: {name}; " for name in get_close_matches(text, MODELS, n=1)
        )
        hint = f"{near}a file, folder or URL, or a name in `elmo-tasks models`; without one, the embedded biLM"
        raise InputError("no such model", file=text, hint=hint)
    if (path / "config.json").is_file() and not (path / OPTIONS_FILE).is_file():
        return {
            "source": MANYLANGS if (path / WEIGHTS).is_file() else TRANSFORMER,
            "model": text,
        }
    return {"weight_file": text}


def copy_files(source: SourceFiles, folder: Path) -> None:
    """Write the files of a source to a folder that `settings_of` accepts. Raises `InputError` if they have changed."""
    for key, file in source.files.items():
        path = _finder(source.name, key)(file.path)
        if _sha256(path) != file.sha256:
            raise InputError(
                f"the file has changed since it was opened, then sha256 {file.sha256}",
                file=file.path,
            )
        if path.is_dir():
            unpack(pack(path), folder)
        else:
            shutil.copy(path, folder / NAMES[key][0])


def _locate(
    key: str,
    given: str,
    trained: SourceFiles | None,
    folder: Path,
    find: _Find,
    failures: list[InputError],
) -> tuple[File, Path] | None:
    """
    A file and where to read it, which is in `folder` for contents of an archive; `None` if it is nowhere. `failures`
    gets the reasons why a URL or a model could not be fetched.
    """
    path = _existing(given, find, failures)
    here = (
        None
        if path is None
        else (
            File(
                given, given if "://" in given else os.path.abspath(path), _sha256(path)
            ),
            path,
        )
    )
    if trained is None or (
        here is not None and here[0].sha256 == trained.files[key].sha256
    ):
        return here
    then = trained.files[key]
    for place in filter(None, (then.path, remembered(then.sha256))):
        path = _existing(place, find, failures)
        if path is not None and _sha256(path) == then.sha256:
            return replace(then, path=place), path
    if key not in trained.contents:
        return here
    if key == "model":
        unpack(trained.contents[key], folder)
        return then, folder
    trained.contents[key].numpy().tofile(folder / key)
    return then, folder / key


def _finder(source: str, key: str) -> _Find:
    if key == "model":
        return find_model
    if source != BILM:
        return local_path
    return lambda given: (
        embedded_bilm()[0].with_name(given.removeprefix(EMBEDDED))
        if given.startswith(EMBEDDED)
        else bilm_file(given, key)
    )


def remember(file: File) -> None:
    """
    Note in the user's cache where a file with this digest is. The state of a model has no path of the machine where it
    was trained, so that this is how an archive finds its files when it is opened in another folder.
    """
    is_elsewhere = "://" in file.path or file.given.startswith(EMBEDDED)
    if is_elsewhere or remembered(file.sha256) == file.path or not file.path:
        return
    with suppress(InputError):  # a cache that cannot be written
        write_text(_note(file.sha256), file.path)


def remembered(sha256: str) -> str | None:
    """Where a file with this digest was last, if a training of this user has noted it."""
    try:
        return _note(sha256).read_text("utf-8")
    except (OSError, ValueError):
        return None


def _note(sha256: str) -> Path:
    if not re.fullmatch("[0-9a-f]{64}", sha256):  # an archive says it
        raise ValueError("expected a SHA-256")
    return cache_folder() / "files" / sha256


def _missing(
    keys: Sequence[str], key: str, what: str, given: str, trained: File | None
) -> InputError:
    """The error for the file of `key`; a moved biLM has other paths for all its `keys`."""
    if trained is None:
        where = (
            "" if os.path.isabs(given) else f"; relative paths start from {os.getcwd()}"
        )
        return InputError(f"no such file: {what}", file=given, hint=f"set {key}{where}")
    problem = f"no such file: {what}, on which this model was trained; its {trained}"
    paths = ", ".join(f'"{one}": "PATH"' for one in keys)
    hint = f"restore it, or pass where it is now: -o '{{{paths}}}'"
    return InputError(problem, file=given, hint=hint)


def _trained_on(given: dict[str, str], run_folder: str | None) -> SourceFiles | None:
    """The files of a trained model in the folder, if there is one whose config gave these paths."""
    paths = [Path(run_folder) / name for name in STATE_FILES] if run_folder else []
    path = next((path for path in paths if path.is_file()), None)
    try:
        state = (
            {}
            if path is None
            else torch.load(path, map_location="cpu", mmap=True, weights_only=True)
        )
    except (OSError, RuntimeError, EOFError, UnpicklingError):
        return None  # loading the model's state reports what is wrong with it
    items = state.items() if isinstance(state, Mapping) else ()
    wanted = {key: portable(path) for key, path in given.items()}
    states = (
        SourceFiles.from_state(value)
        for key, value in items
        if str(key).endswith(STATE_KEY)
    )
    return next(
        (
            one
            for one in states
            if {key: portable(file.given) for key, file in one.files.items()} == wanted
        ),
        None,
    )


def _from_earlier(state: Tensor) -> SourceFiles:
    content = state.cpu().numpy().tobytes() if state.dtype == torch.uint8 else b""
    if not content.startswith(_EARLIER_MARK):
        raise _unknown_state()
    head, _, _ = content[len(_EARLIER_MARK) :].partition(b"\n")
    rest = state[len(_EARLIER_MARK) + len(head) + 1 :].cpu()
    try:
        fields = json.loads(head)
        name, sizes = fields.pop("source", None), fields.pop("sizes")
        files = {key: File(**value) for key, value in fields.items()}
        parts = rest.split(sizes) if sizes else ()
    except (TypeError, KeyError, AttributeError, ValueError, RuntimeError):
        raise _unknown_state() from None
    if name is None:
        name = next(
            (
                known
                for known, kind in SOURCES.items()
                if kind.files.keys() == files.keys()
            ),
            "unknown",
        )
    return SourceFiles(name, files, dict(zip(files, parts, strict=False)))


def _is_content(value: object) -> bool:
    """Whether it is a file's bytes; a tensor may also claim one byte to be any number of them."""
    return (
        isinstance(value, Tensor)
        and value.dtype == torch.uint8
        and value.dim() == 1
        and value.is_contiguous()
    )


def _unknown_state() -> InputError:
    return InputError(
        "the model's state names no biLM: was it written by another version?"
    )


def _existing(given: str, find: _Find, failures: list[InputError]) -> Path | None:
    try:
        path = find(given)
    except InputError as error:
        failures.append(error)
        return None
    return path if path.is_file() or (path / "config.json").is_file() else None


def _sha256(path: Path) -> str:
    return folder_sha256(path) if path.is_dir() else file_sha256(path)


def _contents(path: Path) -> Tensor:
    """The bytes of a file, or of the files of a transformer, uint8."""
    return (
        pack(path) if path.is_dir() else torch.from_numpy(np.fromfile(path, np.uint8))
    )
