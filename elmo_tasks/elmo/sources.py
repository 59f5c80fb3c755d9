"""The files of a source of layers: what a model's state remembers of them, and how they are found again."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from pickle import UnpicklingError

import numpy as np
import torch
from torch import Tensor

from elmo_tasks.bilm.weights import file_sha256, local_path
from elmo_tasks.elmo.source_types import BILM, FILE_KEYS, SOURCES, LayerSource
from elmo_tasks.elmo.transformer_files import find_model, folder_sha256, pack, unpack
from elmo_tasks.errors import InputError
from elmo_tasks.resources import embedded_bilm

STATE_FILES = ("weights.th", "best.th")
"""A model's state inside an archive, and inside the folder of a run."""

STATE_KEY = "_extra_state"
"""The suffix of torch's name for what a module adds to the state."""

_EMBEDDED = "embedded:"
"""Begins the names of the embedded biLM's files, which are at another path in another installation."""

_MARK = b"elmo_tasks biLM 1\n"
_MOST_HEADER_BYTES = 65536

_Find = Callable[[str], Path]


@dataclass(frozen=True)
class File:
    """A file or a folder: the path, URL or name in the config, the absolute path or URL, and the sha256."""

    given: str
    path: str
    sha256: str

    def __str__(self) -> str:
        return f"sha256 {self.sha256} ({self.path})"


@dataclass(frozen=True)
class Source:
    """
    An opened source and its files: the two of a biLM or of CoVe, the folder of a transformer.

    # Parameters

    - `name`: the value of `source` in the config.
    - `files`: by their keys in the config.
    - `contents`: the bytes of each, uint8.
    - `names`: what errors call these keys and `source`, if not by their own names.
    - `width`: size of a layer's vectors.
    """

    name: str
    files: Mapping[str, File]
    contents: Sequence[Tensor] | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    width: int | None = None

    @property
    def label(self) -> str:
        """`biLM`, `CoVe`, `transformer`, or the name of another source."""
        return SOURCES[self.name].label

    @property
    def weight_file(self) -> File:
        """The weights; a transformer's folder."""
        return self.files[max(self.files, key=FILE_KEYS.index)]

    @property
    def auxiliary_file(self) -> File:
        """The other file: a biLM's options, CoVe's word vectors, a transformer's folder."""
        return self.files[min(self.files, key=FILE_KEYS.index)]

    def to_state(self, *, with_contents: bool) -> Tensor:
        """Everything as one uint8 tensor, which any tool for state dictionaries can handle."""
        contents = self.contents if with_contents and self.contents is not None else ()
        files = {key: asdict(file) for key, file in self.files.items()}
        head = json.dumps({**files, "source": self.name, "sizes": [len(content) for content in contents]}).encode()
        header = np.frombuffer(_MARK + head + b"\n", np.uint8).copy()
        return torch.cat([torch.from_numpy(header), *contents])

    @classmethod
    def from_state(cls, state: Tensor) -> "Source":
        """Raises `InputError` if the tensor was not made by `to_state`."""
        if not _is_state(state):
            raise InputError("the model's state names no biLM: was it written by another version?")
        head, _, _ = state[len(_MARK) : len(_MARK) + _MOST_HEADER_BYTES].cpu().numpy().tobytes().partition(b"\n")
        fields = json.loads(head)
        name, sizes = fields.pop("source", None), fields.pop("sizes")
        contents = tuple(state[len(_MARK) + len(head) + 1 :].cpu().split(sizes)) if sizes else None
        files = {key: File(**value) for key, value in fields.items()}
        if name is None:  # of an archive whose state does not name the source
            name = next(known for known, kind in SOURCES.items() if kind.files.keys() == files.keys())
        return cls(name, files, contents)

    def require_same(self, *trained: "Source") -> None:
        """Raise `InputError` naming each file that differs, unless the files belong to a trained model."""
        if not trained or any(one.name == self.name and not self._differing(one) for one in trained):
            return
        first, width = trained[0], "" if self.width is None else f"; the vectors of this one have {self.width} numbers"
        if first.name != self.name:
            files = " and ".join(f"{self._named(key)} to that with {file}" for key, file in first.files.items())
            hint = f"set {self._named('source')} to {first.name}, and {files}{width}"
            raise InputError(f"this model was trained with the source {first.name}, got {self.name}", hint=hint)
        keys = " and ".join(map(self._named, first.files))
        problem = f"this model was trained on another {self.label}:{''.join(self._differing(first))}"
        raise InputError(problem, hint=f"set {keys} to that {self.label}'s files{width}")

    def _named(self, key: str) -> str:
        return self.names.get(key, key)

    def _differing(self, trained: "Source") -> list[str]:
        """A line for each file that is not that of the trained model, which has the same source."""
        return [
            f"\n  {what}: expected {trained.files[key]}, got {self.files[key]}"
            for key, what in SOURCES[self.name].files.items()
            if trained.files[key].sha256 != self.files[key].sha256
        ]


def open_source(
    source: str,
    given: dict[str, str],
    *,
    archive: bool = False,
    state: str = "reset",
    precision: str = "float32",
    pieces: str = "mean",
    local_files_only: bool = False,
    run_folder: str | None = None,
    names: Mapping[str, str] | None = None,
) -> tuple[LayerSource, Source]:
    """
    Load a frozen source of layers and describe where it came from.

    The files of a trained model are searched for in this order: the path in the config, the absolute path of the
    training, the contents inside the archive; the first that is unchanged is taken.

    # Parameters

    - `given`: paths, URLs or a name, by the keys of the config; relative paths start from the current folder. Without
      both files of a biLM, the embedded one is opened.
    - `run_folder`: folder of a run or of an unpacked archive, which may hold a trained model's state.
    - `names`: see `Source`.
    - `source`, `archive`, `state`, `precision`, `pieces`, `local_files_only`: see `ElmoTokenEmbedder`.

    Raises `InputError` if a file is missing or invalid, or if the model was trained on another source.
    """
    kind = SOURCES[source]
    options = {"state": state, "precision": precision, "pieces": pieces}
    find = partial(find_model, local_files_only=local_files_only) if "model" in kind.files else _find_file
    if source == BILM and not given.keys() & kind.files.keys():
        given = {key: f"{_EMBEDDED}{path.name}" for key, path in zip(kind.files, embedded_bilm(), strict=True)}
    names = names or {}
    if missing := [names.get(key, key) for key in kind.files if key not in given]:
        raise InputError(f"expected {' and '.join(names.get(key, key) for key in kind.files)}, got no {missing[0]}")
    given = {key: given[key] for key in kind.files}
    trained = _trained_sources(run_folder)
    with _located(given, kind.files, trained, names, find) as (files, paths):
        opened = kind.load(*paths, **{key: options[key] for key in kind.options}).eval().requires_grad_(False)
        contents = list(map(_contents, paths)) if archive else None
    described = Source(source, files, contents, names, opened.output_dim)
    described.require_same(*trained)
    return opened, described


@contextmanager
def _located(
    given: dict[str, str], what: Mapping[str, str], trained: list[Source], names: Mapping[str, str], find: _Find
) -> Iterator[tuple[dict[str, File], list[Path]]]:
    """The files by key, and paths where they can be read inside the block."""
    same_paths = (one for one in trained if {key: file.given for key, file in one.files.items()} == given)
    source = next(same_paths, None)
    with tempfile.TemporaryDirectory() as folder:
        files, paths = {}, []
        for key, path in given.items():
            found = _locate(key, path, source, Path(folder), find)
            if found is None:
                then = None if source is None else source.files[key]
                raise _missing(names.get(key, key), what[key], path, then, find)
            files[key] = found[0]
            paths.append(found[1])
        yield files, paths


def _locate(key: str, given: str, source: Source | None, folder: Path, find: _Find) -> tuple[File, Path] | None:
    """A file and where to read it, which is in `folder` for contents of an archive; `None` if it is nowhere."""
    path = _existing(given, find)
    here = (
        None if path is None else (File(given, given if "://" in given else os.path.abspath(path), _sha256(path)), path)
    )
    if source is None or (here is not None and here[0].sha256 == source.files[key].sha256):
        return here
    trained = source.files[key]
    path = _existing(trained.path, find)
    if path is not None and _sha256(path) == trained.sha256:
        return trained, path
    if source.contents is not None:
        contents = source.contents[list(source.files).index(key)]
        if key == "model":
            unpack(contents, folder)
            return trained, folder
        contents.numpy().tofile(folder / key)
        return trained, folder / key
    return here


def _find_file(given: str) -> Path:
    if given.startswith(_EMBEDDED):
        return embedded_bilm()[0].with_name(given.removeprefix(_EMBEDDED))
    return local_path(given)


def _missing(key: str, what: str, given: str, trained: File | None, find: _Find) -> InputError:
    find(given)  # raises the reason why a URL or a model cannot be fetched
    if trained is None:
        where = "" if os.path.isabs(given) else f"; relative paths start from {os.getcwd()}"
        return InputError(f"no such file: {what}", file=given, hint=f"set {key}{where}")
    problem = f"no such file: {what}, on which this model was trained (then {trained.path}, sha256 {trained.sha256})"
    if (changed := _existing(trained.path, find)) is not None:
        problem += f"; {changed} has changed since, its sha256 is {_sha256(changed)}"
    return InputError(problem, file=given, hint=f'restore it, or pass its new path: -o \'{{"{key}": "PATH"}}\'')


def _trained_sources(run_folder: str | None) -> list[Source]:
    """The sources in the state of a trained model, if there is one in the folder."""
    paths = [Path(run_folder) / name for name in STATE_FILES] if run_folder else []
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        return []
    try:
        state = torch.load(path, map_location="cpu", mmap=True, weights_only=True)
    except (OSError, RuntimeError, EOFError, UnpicklingError):
        return []  # loading the model's state reports what is wrong with it
    items = state.items() if isinstance(state, Mapping) else ()
    states = [value for key, value in items if isinstance(key, str) and key.endswith(STATE_KEY)]
    return [Source.from_state(value) for value in states if _is_state(value)]


def _is_state(value: object) -> bool:
    if not isinstance(value, Tensor) or value.dtype != torch.uint8 or value.dim() != 1:
        return False
    return value[: len(_MARK)].cpu().numpy().tobytes() == _MARK


def _existing(given: str, find: _Find) -> Path | None:
    try:
        path = find(given)
    except InputError:
        return None
    return path if path.is_file() or (path / "config.json").is_file() else None


def _sha256(path: Path) -> str:
    return folder_sha256(path) if path.is_dir() else file_sha256(path)


def _contents(path: Path) -> Tensor:
    """The bytes of a file, or of the files of a transformer, uint8."""
    return pack(path) if path.is_dir() else torch.from_numpy(np.fromfile(path, np.uint8))
