"""Where frozen layers come from: two files, what a model's state keeps of them, and how they are found again."""

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import NoReturn

import numpy as np
import torch
from torch import Tensor

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.weights import file_sha256, local_path
from elmo_tasks.elmo.cove import CoVe
from elmo_tasks.errors import InputError

STATE_FILES = ("weights.th", "best.th")
"""A model's state inside an archive, and inside the folder of a run."""

STATE_KEY = "_extra_state"
"""How torch ends the name of what a module adds to the state."""

CONFIG_PATH = "model.elmo"
"""Where the configs of this package have the keys that name the files."""

_MARK = b"elmo_tasks biLM 1\n"
_BILM = {"options_file": "the biLM's options", "weight_file": "the biLM's weights"}
_COVE = {"vectors_file": "CoVe's word vectors", "weight_file": "CoVe's weights"}
"""The keys that name the files in a config, and what each is."""

LayerSource = BiLM | CoVe
"""What gives layers [L+1, B, T, 2P] for character ids [B, T, 50]."""


@dataclass(frozen=True)
class File:
    """
    One file of a biLM.

    # Parameters

    given : `str`
        The path or URL as the config has it.
    path : `str`
        The absolute path, or the URL.
    sha256 : `str`
        In hexadecimal.
    """

    given: str
    path: str
    sha256: str

    def found(self) -> Path | None:
        """The file, where it still lies at its absolute path unchanged."""
        path = _existing(self.path)
        return path if path is not None and file_sha256(path) == self.sha256 else None


@dataclass(frozen=True)
class Source:
    """
    The two files of a biLM or of CoVe; `contents` are their bytes, where they are kept.

    # Parameters

    files : `Mapping[str, File]`
        By their keys in the config.
    contents : `Sequence[Tensor]`, optional
        The bytes of both, uint8.
    config_path : `str`
        The dotted path of the keys in the whole config.
    width : `int`, optional
        Numbers of a layer's vector (2P), where it is known.
    """

    files: Mapping[str, File]
    contents: Sequence[Tensor] | None = None
    config_path: str = CONFIG_PATH
    width: int | None = None

    @property
    def options_file(self) -> File:
        """A biLM's options."""
        return self.files["options_file"]

    @property
    def weight_file(self) -> File:
        """The weights."""
        return self.files["weight_file"]

    @property
    def auxiliary_file(self) -> File:
        """What belongs to the weights: a biLM's options, CoVe's word vectors."""
        (auxiliary_file,) = (file for key, file in self.files.items() if key != "weight_file")
        return auxiliary_file

    def to_state(self, *, with_contents: bool) -> Tensor:
        """Everything as one uint8 tensor, which any tool that handles state dictionaries can carry."""
        contents = self.contents if with_contents and self.contents is not None else ()
        files = {key: asdict(file) for key, file in self.files.items()}
        head = json.dumps({**files, "sizes": [len(content) for content in contents]}).encode()
        header = np.frombuffer(_MARK + head + b"\n", np.uint8).copy()
        return torch.cat([torch.from_numpy(header), *contents])

    @classmethod
    def from_state(cls, state: Tensor) -> "Source":
        """
        # Raises

        `InputError` where the tensor is none that `to_state` made.
        """
        if not _is_state(state):
            raise InputError("the model's state names no biLM: was it written by another version?")
        lead = state[len(_MARK) : len(_MARK) + 65536].cpu().numpy().tobytes()
        head, _, _ = lead.partition(b"\n")
        fields = json.loads(head)
        start = len(_MARK) + len(head) + 1
        sizes = fields.pop("sizes")
        contents = tuple(state[start:].cpu().split(sizes)) if sizes else None
        files = {key: File(**value) for key, value in fields.items()}
        return cls(files, contents)

    def require_same(self, *trained: "Source") -> None:
        """
        # Parameters

        trained : `Source`
            Those of a trained model.

        # Raises

        `InputError` naming each file that differs, where the files are those of none of them.
        """
        if trained and all(self._differing(one) for one in trained):
            wanted = trained[0].files
            advice = f"set {_dotted(self.config_path, wanted)} to that {_kind(wanted)}'s files"
            width = "" if self.width is None else f"; the vectors of this one have {self.width} numbers"
            listing = "".join(self._differing(trained[0]))
            raise InputError(f"this model was trained on another {_kind(wanted)}:{listing}", hint=advice + width)

    def _differing(self, wanted: "Source") -> list[str]:
        """A line for each file that is not the one wanted."""
        return [
            f"\n  {what}: wanted {_wanted(wanted.files.get(key))}, found {_found(self.files.get(key))}"
            for key, what in {**_what(self.files), **_what(wanted.files)}.items()
            if _sha256(self.files.get(key)) != _sha256(wanted.files.get(key))
        ]


def open_bilm(
    options_file: str,
    weight_file: str,
    *,
    state: str = "reset",
    precision: str = "float32",
    keep_contents: bool = False,
    run_folder: str | None = None,
    config_path: str = CONFIG_PATH,
) -> tuple[BiLM, Source]:
    """
    Load a frozen biLM, and say where it came from.

    A model that is loaded remembers which files it was trained on. They are taken in this order: the path in the
    config, the absolute path it had then, the contents inside the archive; the first that is unchanged.

    # Parameters

    options_file, weight_file : `str`
        Path or URL; relative paths start from the current folder.
    state, precision : `str`
        As for `BiLM`.
    keep_contents : `bool`
        Whether the source keeps both files' bytes.
    run_folder : `str`, optional
        Folder of a run or of an unpacked archive, which may hold a trained model's state.
    config_path : `str`
        The dotted path of the keys in the whole config, for the messages.

    # Raises

    `InputError` where a file is nowhere, or not a biLM, or where the model was trained on another one.
    """
    given = {"options_file": options_file, "weight_file": weight_file}
    with _located(given, run_folder, config_path) as (files, paths):
        bilm = BiLM.from_files(*paths, state=state, precision=precision, packed=True)
        contents = [torch.from_numpy(np.fromfile(path, np.uint8)) for path in paths] if keep_contents else None
    source = Source(files, contents, config_path, bilm.output_dim)
    source.require_same(*(_sources_in(run_folder) if run_folder else ()))
    return bilm, source


def open_cove(
    vectors_file: str, weight_file: str, *, run_folder: str | None = None, config_path: str = CONFIG_PATH
) -> tuple[CoVe, Source]:
    """
    Load a frozen CoVe, and say where it came from; all as `open_bilm` does, but that an archive never holds its files.

    # Raises

    `InputError` where a file is nowhere, or not what it should be.
    """
    given = {"vectors_file": vectors_file, "weight_file": weight_file}
    with _located(given, run_folder, config_path) as (files, paths):
        return CoVe.from_files(*paths), Source(files, config_path=config_path)


@contextmanager
def _located(
    given: dict[str, str], run_folder: str | None, config_path: str
) -> Iterator[tuple[dict[str, File], list[Path]]]:
    """The files by key, and where to read them as long as the block lasts."""
    then = _remembered(given, run_folder)
    with tempfile.TemporaryDirectory() as folder:
        held = then is None and _holds_files(run_folder)
        located = {key: _locate(key, given, then, Path(folder), config_path, held=held) for key in given}
        yield {key: file for key, (file, _) in located.items()}, [path for _, path in located.values()]


def _what(files: Mapping[str, object]) -> dict[str, str]:
    """What each file is, by its key."""
    return _COVE if "vectors_file" in files else _BILM


def _kind(files: Mapping[str, object]) -> str:
    return "CoVe" if "vectors_file" in files else "biLM"


def _sha256(file: File | None) -> str | None:
    return None if file is None else file.sha256


def _wanted(file: File | None) -> str:
    return "none" if file is None else f"sha256 {file.sha256} (then {file.path})"


def _found(file: File | None) -> str:
    return "none" if file is None else f"{file.sha256} ({file.path})"


def _remembered(given: dict[str, str], run_folder: str | None) -> Source | None:
    """The source that a trained model in `run_folder` had, if the config gives the same paths."""
    for source in _sources_in(run_folder) if run_folder else ():
        if {key: file.given for key, file in source.files.items()} == given:
            return source
    return None


def _holds_files(run_folder: str | None) -> bool:
    return any(source.contents is not None for source in (_sources_in(run_folder) if run_folder else ()))


def _sources_in(run_folder: str) -> Iterator[Source]:
    path = next((path for name in STATE_FILES if (path := Path(run_folder) / name).is_file()), None)
    if path is None:
        return
    try:
        state = torch.load(path, map_location="cpu", mmap=True, weights_only=True)
    except (OSError, RuntimeError, EOFError, UnpicklingError):
        return  # whoever loads the model next tells what is wrong with its state
    for key, value in state.items() if isinstance(state, Mapping) else ():
        if isinstance(key, str) and key.endswith(STATE_KEY) and _is_state(value):
            yield Source.from_state(value)


def _is_state(value: object) -> bool:
    if not isinstance(value, Tensor) or value.dtype != torch.uint8 or value.dim() != 1:
        return False
    return value[: len(_MARK)].cpu().numpy().tobytes() == _MARK


def _locate(
    key: str, paths: Mapping[str, str], then: Source | None, folder: Path, config_path: str, *, held: bool
) -> tuple[File, Path]:
    """
    The file and where to read it, which is in `folder` where only the archive has it; `held`: that the archive has
    files, though the config names others.
    """
    given, trained, dotted = paths[key], None if then is None else then.files[key], f"{config_path}.{key}"
    path, what = _existing(given), _what(paths)[key]
    here = None if path is None else (File(given, _absolute(given), file_sha256(path)), path)
    if trained is None or (here is not None and here[0].sha256 == trained.sha256):
        return here or (_not_wanted(paths, what, given, config_path) if held else _missing(dotted, what, given, None))
    if (moved := trained.found()) is not None:
        return trained, moved
    if then is not None and then.contents is not None:
        unpacked = folder / key
        then.contents[list(then.files).index(key)].numpy().tofile(unpacked)
        return trained, unpacked
    return here or _missing(dotted, what, given, trained)


def _not_wanted(paths: Mapping[str, str], what: str, given: str, config_path: str) -> NoReturn:
    problem = f"no such file: {what}; the archive holds the {_kind(paths)}'s files itself"
    raise InputError(problem, file=given, hint=f"leave {_dotted(config_path, paths)} out of the overrides")


def _missing(key: str, what: str, given: str, trained: File | None) -> NoReturn:
    local_path(given)  # tells why a URL cannot be fetched
    if trained is None:
        where = "" if os.path.isabs(given) else f"; relative paths start from {os.getcwd()}"
        raise InputError(f"no such file: {what}", file=given, hint=f"set {key}{where}")
    then = f"on which this model was trained (then {trained.path}, sha256 {trained.sha256})"
    hint = f'put it back, or give its new place: -o \'{{"{key}": "PATH"}}\''
    if (changed := _existing(trained.path)) is not None:
        found = f"{changed} has changed since, its sha256 is {file_sha256(changed)}"
        raise InputError(f"no such file: {what}, {then}; {found}", file=given, hint=hint)
    raise InputError(f"no such file: {what}, {then}", file=given, hint=hint)


def _dotted(config_path: str, keys: Iterable[str]) -> str:
    """Keys with the path of their owner, as a message lists them."""
    return " and ".join(f"{config_path}.{key}" for key in keys)


def _existing(path_or_url: str) -> Path | None:
    try:
        path = local_path(path_or_url)
    except InputError:
        return None
    return path if path.is_file() else None


def _absolute(path_or_url: str) -> str:
    return path_or_url if "://" in path_or_url else os.path.abspath(path_or_url)
