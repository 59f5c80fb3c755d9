"""
The one name of a model -> its kind and files: `--model`, `model.elmo.model` and
`Elmo.from_pretrained` mean the same by it.

| name | example | kind |
|---|---|---|
| of the biLM that comes with the package | `bundled` | biLM |
| of a published model, see `elmo-tasks models` | `elmo-original`, `nlpl-209` | as published |
| a folder, or a ZIP, also of a URL | `my_bilm`, `162.zip` | by its files |
| a model of the Hugging Face hub | `hf://owner/name`, `hf://owner/name@v1` | by its files |
| the two files of a biLM, paths or URLs | `options.json+weights.hdf5` | biLM |
| the word vectors and weights of CoVe | `glove.txt+weights.pth` | CoVe |

Only files are looked at, and none of them is run. A source that another package has
registered, whose code would run, is never inferred.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.bilm.options import Ancestry
from elmo_tasks.elmo.models.kinds import (
    address,
    config_in,
    kind_of_folder,
    names_in,
    one_file,
    two_files,
    unknown,
)
from elmo_tasks.elmo.sources.types import (
    BILM,
    COVE,
    FILE_KEYS,
    SOURCES,
    SourceSettings,
)
from elmo_tasks.errors import InputError
from elmo_tasks.formats.bilm_files import (
    files_among,
    weight_format,
    written_names,
)
from elmo_tasks.formats.fetching.fetch import (
    files_in,
    hub_model,
    is_hub_model,
    local_path,
    model_path,
)
from elmo_tasks.formats.fetching.published import BUNDLED, published
from elmo_tasks.resources import embedded_bilm
from elmo_tasks.system.files import file_sha256
from elmo_tasks.system.run_names import VOCABULARY_FILE

_ONE_FILE = re.compile(r"\.(json|hdf5|h5|safetensors)$", re.IGNORECASE)
"""The end of the name of one file of a model."""

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
"""A name of the hub without `hf://`, which only an explicit kind allows."""


class Contents(NamedTuple):
    """
    The bytes of a model's files by their names in a folder of the whole model, and the
    places there by the keys in a config; empty for the key of the folder itself.
    """

    files: Mapping[str, bytes]
    places: Mapping[str, str]


@dataclass(frozen=True)
class ModelFiles:
    """
    The files of a model on this machine.

    - `kind`: of source.
    - `name`: what the user called the model, or its two files with a `+` between them.
    - `paths`: absolute, by their keys in a config: the two files of a biLM, the folder
      of a transformer.
    - `sha256`: of the contents of all files that are read.
    - `contents`: of a model that is stored with what is trained on it.
    - `ancestry`: of one from which a training starts: itself, then its own ancestors.
    """

    kind: str
    name: str
    paths: Mapping[str, Path]
    sha256: str
    contents: Contents | None = field(default=None, repr=False)
    ancestry: Ancestry = ()

    @property
    def label(self) -> str:
        """What messages and tables call the kind."""
        if self.kind not in SOURCES:  # one that another program has registered
            return self.kind
        return SOURCES[self.kind].label

    @property
    def public(self) -> str:
        """
        What files for others say of it: its name or URL, a relative path, or the last
        part of an absolute one.
        """
        pair = two_files(self.name)
        parts = [self.name] if pair is None else list(pair[1].values())
        shown = []
        for name in parts:
            if os.path.isabs(os.path.expanduser(name)):
                name = os.path.basename(name)
            shown.append(name)
        return "+".join(shown)

    @property
    def weight_file(self) -> Path:
        """The weights; of a model of one folder, this one."""
        keys = [key for key in FILE_KEYS if key in self.paths]
        return self.paths[keys[-1]]

    @property
    def vocabulary(self) -> Path | None:
        """The vocabulary beside a biLM, which tells the marks that it has never seen."""
        if self.kind != BILM:
            return None
        path = self.weight_file.parent / VOCABULARY_FILE
        return path if path.is_file() else None

    def members(self) -> dict[str, Path]:
        """
        All files that are read, by the names that they have in a folder of a whole
        model.
        """
        found = {}
        for key, path in self.paths.items():
            for name, file in _read(self.kind, path).items():
                found[os.path.join(self._place(key), name).rstrip("/")] = file
        return found

    def _place(self, key: str) -> str:
        """Where the file or folder of a key is in a folder of the whole model."""
        path = self.paths[key]
        if self.kind == BILM:
            return written_names(weight_format(self.weight_file))[key]
        if len(self.paths) > 1:  # their names may be equal
            return os.path.join(key, path.name)
        return "" if path.is_dir() else path.name

    def with_contents(self) -> "ModelFiles":
        """The same files with their contents."""
        files = {name: path.read_bytes() for name, path in self.members().items()}
        places = {key: self._place(key) for key in self.paths}
        return replace(self, contents=Contents(files, places))

    def copy_to(self, folder: Path) -> None:
        """
        Write the files to a folder that is then the name of a model. Raises
        `InputError` if they have changed since they were resolved.
        """
        if located(self.kind, self.name, self.paths).sha256 != self.sha256:
            problem = "the model has changed since it was opened"
            raise InputError(
                f"{problem}; its sha256 was {self.sha256}", file=self.weight_file
            )
        for name, path in self.members().items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, folder / name)


def resolve(
    name: str | Path, *, kind: str | None = None, offline: bool = False
) -> ModelFiles:
    """
    The files of the model with this name, which are fetched if they are not on this
    machine, unless `offline`. `kind` is inferred unless it is given.

    Raises `InputError` if there is no such model, if it has several or only a part of
    one, or if something cannot be fetched.
    """
    text = os.fspath(name)
    model = published(text)
    pair = two_files(text)
    if model is not None and len(model.files) > 1:
        pair = BILM, dict(zip(SOURCES[BILM].files, model.files, strict=True))
    if text == BUNDLED:
        files = bundled()
    elif pair is not None:
        files = replace(resolve_files(*pair, offline=offline), name=text)
    else:
        inferred = None if model is None else model.source
        return _of_one_path(text, kind or inferred, offline=offline)
    if kind not in (None, files.kind):
        expected = SOURCES[str(kind)].label
        raise InputError(f"expected a {expected}, got a {files.label}", file=text)
    return files


def _of_one_path(text: str, kind: str | None, *, offline: bool) -> ModelFiles:
    """The files of a model in a folder, or of a kind of one's own in a file."""
    if kind == COVE:
        raise InputError(f"expected {SOURCES[COVE].hint}", file=text)
    path = _whole(text, kind, offline=offline)
    if path.is_dir():
        return _in_folder(path, kind or kind_of_folder(path, text), text)
    if kind is None or SOURCES[kind].is_ours:
        raise one_file(text)
    return located(kind, text, {"model": path})


def resolve_files(
    kind: str, names: Mapping[str, str], *, where: str = "", offline: bool = False
) -> ModelFiles:
    """
    The files of a model that are given one by one, as paths or URLs, by their keys in a
    config; errors write `where` before a key. Raises `InputError` if a file is missing
    or cannot be fetched.
    """
    paths = {}
    for key, name in names.items():
        if key == "model":
            paths[key] = _whole(name, kind, offline=offline)
        else:
            paths[key] = local_path(name, offline=offline)
            _require_file(paths[key], kind, key, where=where)
    return located(kind, "+".join(names.values()), paths)


def files_of(
    settings: SourceSettings, *, where: str = "", offline: bool = False
) -> ModelFiles:
    """
    The files of the model that a config names, by default the bundled biLM; `where`,
    `offline` and the errors are those of `resolve_files`.
    """
    kind = settings.source
    if settings.model is not None and (kind is None or SOURCES[kind].is_ours):
        return resolve(settings.model, kind=kind, offline=offline)
    names = settings.file_names()
    if not names:
        return bundled()
    return resolve_files(kind or BILM, names, where=where, offline=offline)


def located(kind: str, name: str, paths: Mapping[str, Path]) -> ModelFiles:
    """A model of this kind in files and folders on this machine."""
    digest = hashlib.sha256()
    for key, path in paths.items():
        for member, file in _read(kind, path).items():
            digest.update(f"{file_sha256(file)}  {key}/{member}\n".encode())
    absolute = {key: path.absolute() for key, path in paths.items()}
    return ModelFiles(kind, name, absolute, digest.hexdigest())


def _read(kind: str, path: Path) -> dict[str, Path]:
    """
    The files that are read of a path of a model, by their names in a folder, sorted; of
    a kind without patterns, all, also below the folder and behind links.
    """
    if not path.is_dir():
        return {"": path}
    if SOURCES[kind].patterns:
        return files_in(path, SOURCES[kind].patterns)
    found = {}
    for parent, _, names in os.walk(path, followlinks=True):
        for file in [Path(parent, name) for name in names]:
            if file.is_file():
                found[file.relative_to(path).as_posix()] = file
    return dict(sorted(found.items()))


def bundled() -> ModelFiles:
    """The biLM that comes with the package."""
    paths = dict(zip(SOURCES[BILM].files, embedded_bilm(), strict=True))
    return located(BILM, BUNDLED, paths)


def is_remote(name: str) -> bool:
    """Whether a name means something that is fetched."""
    return "://" in name or published(name) is not None


def _whole(text: str, kind: str | None, *, offline: bool) -> Path:
    """The folder of a whole model on this machine, or its one file."""
    if is_hub_model(text):
        return _from_hub(text.removesuffix("/"), kind, offline=offline)
    if "://" in text and _ONE_FILE.search(address(text)):
        raise one_file(text)
    path = model_path(text, offline=offline).absolute()
    if text and path.exists():
        return path
    if kind in (None, BILM) or not _HUB_NAME.fullmatch(text):
        raise unknown(text)
    try:
        return _from_hub(text, kind, offline=offline)
    except InputError as error:
        problem = f"no such folder, and no such model on the Hugging Face hub: {error}"
        hint = "set the key or option model"
        raise InputError(problem, file=text, hint=hint) from None


def _from_hub(text: str, kind: str | None, *, offline: bool) -> Path:
    """The folder with the files of a model of the hub that may be read."""
    kinds = [kind] if kind is not None else list(SOURCES)
    patterns: list[str] = []
    for one in kinds:
        patterns += SOURCES[one].patterns
    return hub_model(text, patterns or ["*"], offline=offline)


def _in_folder(folder: Path, kind: str, text: str) -> ModelFiles:
    """The files of a model of this kind in a folder."""
    if kind != BILM:
        return located(kind, text, {"model": folder})
    names = files_among(names_in(folder), config_in(folder), text)
    paths = {}
    for key in SOURCES[BILM].files:
        if key not in names:
            found = ", ".join(names.values()) or "neither"
            problem = f"expected a biLM's {SOURCES[BILM].hint}, got {found}"
            raise InputError(problem, file=folder)
        paths[key] = folder / names[key]
        _require_file(paths[key], BILM, key)
    return located(BILM, text, paths)


def _require_file(path: Path, kind: str, key: str, *, where: str = "") -> None:
    """Raises `InputError` for something else in the place of a file."""
    if path.is_file():
        return
    what = SOURCES[kind].files[key]
    if path.exists():
        raise InputError(f"expected a file, {what}, got something else", file=path)
    hint = f"set {where}{key}; relative paths start from {os.getcwd()}"
    raise InputError(f"no such file: {what}", file=path, hint=hint)
