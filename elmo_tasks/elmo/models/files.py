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

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.bilm.ancestry import Ancestry
from elmo_tasks.elmo.models.folders import model_files, path_sha256
from elmo_tasks.elmo.models.kinds import (
    address,
    config_in,
    kind_of_folder,
    names_in,
    one_file,
    require_no_folder,
    the_kind,
    two_files,
    unknown,
)
from elmo_tasks.elmo.sources.types import (
    BILM,
    COVE,
    FILE_KEYS,
    INFERRED,
    SOURCES,
    SourceSettings,
)
from elmo_tasks.errors import InputError
from elmo_tasks.formats.bilm_files import (
    files_among,
    missing_among,
    weight_format,
    written_names,
)
from elmo_tasks.formats.fetching.fetch import (
    hub_files,
    hub_model,
    is_hub_model,
    local_path,
    model_path,
)
from elmo_tasks.formats.fetching.published import BUNDLED, published
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.resources import embedded_bilm
from elmo_tasks.system.run_names import CARD_FILE, CONFIG, VOCABULARY_FILE

_ONE_FILE = re.compile(r"\.(json|hdf5|h5|safetensors)$", re.IGNORECASE)
"""The end of the name of one file of a model."""

_COVE_FORM = "VECTORS.txt+WEIGHTS.pth"
"""What the name of a CoVe is."""

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
"""A name of the hub without `hf://`, which only an explicit kind allows."""


@dataclass(frozen=True)
class File:
    """
    A file of a model, or the folder of a transformer.

    - `name`: what the user called it, or the whole model.
    - `path`: where it is on this machine, absolute.
    - `sha256`: of its contents; of a folder, of the files that are read.
    """

    name: str
    path: Path
    sha256: str

    def __str__(self) -> str:
        return f"sha256 {self.sha256} ({self.path})"

    @property
    def public(self) -> str:
        """
        What files for others say of it: its name or URL, a relative path,
        or the last part of an absolute one.
        """
        name = self.name
        if os.path.isabs(os.path.expanduser(name)):
            return os.path.basename(name)
        return name

    @property
    def absolute_name(self) -> str:
        """A name that means the same file from any folder."""
        if is_remote(self.name) or self.name == BUNDLED:
            return self.name
        return str(self.path)


class Contents(NamedTuple):
    """
    The bytes of a model's files by their names in a folder of the whole model, and the
    names by the keys in a config; empty for the key of the folder itself.
    """

    files: Mapping[str, bytes]
    names: Mapping[str, str]


@dataclass(frozen=True)
class ModelFiles:
    """
    The files of a model on this machine: a `kind` of source, and the `files` by their
    keys in a config: the two of a biLM, the folder of a transformer. `contents` is for
    a model that is stored with what is trained on it, `ancestry` for one from which a
    training starts: itself, then its own ancestors.
    """

    kind: str
    files: Mapping[str, File]
    contents: "Contents | None" = field(default=None, repr=False)
    ancestry: Ancestry = ()

    @property
    def label(self) -> str:
        """What messages and tables call the kind."""
        if self.kind not in SOURCES:  # one that another program has registered
            return self.kind
        return SOURCES[self.kind].label

    @property
    def paths(self) -> dict[str, Path]:
        """Where the files are, by their keys."""
        return {key: file.path for key, file in self.files.items()}

    @property
    def sha256(self) -> dict[str, str]:
        """The digests of the files, by their keys."""
        return {key: file.sha256 for key, file in self.files.items()}

    @property
    def options_file(self) -> File:
        """A biLM's options; of a model of one folder, this one."""
        return self.files[self._keys()[0]]

    @property
    def weight_file(self) -> File:
        """The weights; of a model of one folder, this one."""
        return self.files[self._keys()[-1]]

    @property
    def vocabulary(self) -> Path | None:
        """The vocabulary beside a biLM, which tells the marks that it has never seen."""
        if self.kind != BILM:
            return None
        path = self.weight_file.path.parent / VOCABULARY_FILE
        return path if path.is_file() else None

    def _keys(self) -> list[str]:
        return [key for key in FILE_KEYS if key in self.files]

    def members(self) -> dict[str, Path]:
        """The files by the names that they have in a folder of a whole model."""
        found = {}
        places = self._places()
        for key, path in self.paths.items():
            if not path.is_dir():
                found[places[key]] = path
                continue
            for name, file in model_files(self.kind, path).items():
                found[os.path.join(places[key], name)] = file
        return found

    def _places(self) -> dict[str, str]:
        """
        Where each file or folder is in a folder of the whole model; empty if it is that
        folder.
        """
        if self.kind == BILM:
            return written_names(weight_format(self.weight_file.path))
        places = {}
        for key, path in self.paths.items():
            places[key] = "" if path.is_dir() else path.name
            if len(self.files) > 1:  # their names may be equal
                places[key] = os.path.join(key, places[key])
        return places

    def with_contents(self) -> "ModelFiles":
        """The same files with their contents."""
        files = {name: path.read_bytes() for name, path in self.members().items()}
        return replace(self, contents=Contents(files, self._places()))

    def copy_to(self, folder: Path) -> None:
        """
        Write the files to a folder that is then the name of a model. Raises
        `InputError` if they have changed since they were resolved.
        """
        for file in self.files.values():
            if path_sha256(self.kind, file.path) != file.sha256:
                problem = "the file has changed since it was opened"
                raise InputError(
                    f"{problem}; its sha256 was {file.sha256}", file=file.path
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
    if is_bundled(text):
        _require_kind(kind, BILM, text)
        return _bundled()
    pair = two_files(text)
    if pair is not None:
        pair_kind, names = pair
        _require_kind(kind, pair_kind, text)
        return resolve_files(pair_kind, names, offline=offline)
    _require_kind(kind, None, text)
    model = published(text)
    if model is not None:
        require_no_folder(text, "a published model")
        kind = kind or model.source
        if len(model.files) > 1:
            options_file, weight_file = [
                local_path(file, offline=offline) for file in model.files
            ]
            return _bilm(text, options_file, weight_file)
    folder, kind = _folder(text, kind, offline=offline)
    return _in_folder(folder, kind, text)


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
            path = _any_path(name, kind, offline=offline)
            _require_there(path, kind, key, name, where)
        else:
            path = local_path(name, offline=offline)
            _require_file(path, kind, key, name, where)
        paths[key] = path
    return with_digests(kind, names, paths)


def files_of(
    settings: SourceSettings, *, where: str = "", offline: bool = False
) -> ModelFiles:
    """
    The files of the model that a config names, by default the bundled biLM; `where`,
    `offline` and the errors are those of `resolve_files`.
    """
    kind = settings.source
    is_inferred = kind in (None, COVE, *INFERRED)
    if is_inferred and settings.model is not None:
        return resolve(settings.model, kind=kind, offline=offline)
    names = settings.file_names()
    if not names:
        return _bundled()
    return resolve_files(kind or BILM, names, where=where, offline=offline)


def local_files(model: str) -> list[str]:
    """
    The files on this machine that a name means, as far as they are given by paths;
    nothing is fetched.
    """
    if is_bundled(model):
        return [str(path) for path in embedded_bilm()]
    pair = two_files(model)
    if pair is not None:
        return list(pair[1].values())
    if not model:
        return []
    folder = Path(model).expanduser()
    if not folder.is_dir():
        return [str(folder)]
    return [str(path) for path in sorted(folder.iterdir()) if path.is_file()]


def is_bundled(text: str) -> bool:
    """
    Whether a name means the bundled biLM. Raises `InputError` if a folder with a model
    or a run has the same name.
    """
    if text != BUNDLED:
        return False
    require_no_folder(text, "the bundled model")
    return True


def is_remote(name: str) -> bool:
    """Whether a name means something that is fetched."""
    return "://" in name or published(name) is not None


def _bundled() -> ModelFiles:
    return _bilm(BUNDLED, *embedded_bilm())


def _bilm(name: str, options_file: Path, weight_file: Path) -> ModelFiles:
    paths = {"options_file": options_file, "weight_file": weight_file}
    return with_digests(BILM, dict.fromkeys(paths, name), paths)


def _folder(text: str, kind: str | None, *, offline: bool) -> tuple[Path, str]:
    """The folder of a whole model on this machine, and its kind."""
    if is_hub_model(text):
        return _hub_folder(text.removesuffix("/"), kind, offline=offline)
    if "://" in text and _ONE_FILE.search(address(text)):
        raise one_file(text)
    path = model_path(text, offline=offline).absolute()
    if not text or not path.exists():
        if kind not in (None, BILM) and _HUB_NAME.fullmatch(text):
            return _named_on_hub(text, kind, offline=offline)
        raise unknown(text)
    if not path.is_dir():
        raise one_file(text)
    return path, kind or kind_of_folder(path, text)


def _named_on_hub(text: str, kind: str | None, *, offline: bool) -> tuple[Path, str]:
    try:
        return _hub_folder(text, kind, offline=offline)
    except InputError as error:
        problem = f"no such folder, and no such model on the Hugging Face hub: {error}"
        raise InputError(
            problem, file=text, hint="set the key or option model"
        ) from None


def _hub_folder(text: str, kind: str | None, *, offline: bool) -> tuple[Path, str]:
    """The folder with the files of a model of the hub that are read."""
    names = hub_files(text, offline=offline)
    config = None
    if CONFIG in names:
        file = hub_model(text, [CONFIG], offline=offline) / CONFIG
        config = read_json(file, "the config of a model")
    kind = kind or the_kind(names, config, text)
    patterns = SOURCES[kind].patterns
    if kind == BILM:
        read = files_among(names, config, text).values()
        patterns = (*read, CARD_FILE, VOCABULARY_FILE)
    return hub_model(text, patterns, offline=offline), kind


def _in_folder(folder: Path, kind: str, text: str) -> ModelFiles:
    """The files of a model of this kind in a folder."""
    if kind != BILM:
        return with_digests(kind, {"model": text}, {"model": folder})
    names = files_among(names_in(folder), config_in(folder), text)
    paths = {}
    for key in SOURCES[BILM].files:
        if key not in names:
            raise missing_among(names, key, folder)
        paths[key] = folder / names[key]
        _require_file(paths[key], BILM, key, str(paths[key]), "")
    return with_digests(kind, dict.fromkeys(paths, text), paths)


def _any_path(name: str, kind: str, *, offline: bool) -> Path:
    """The file or folder of a model whose kind is never inferred."""
    path = model_path(name, offline=offline).absolute()
    if path.exists() or not _HUB_NAME.fullmatch(name):
        return path
    return _named_on_hub(name, kind, offline=offline)[0]


def with_digests(
    kind: str, names: Mapping[str, str], paths: Mapping[str, Path]
) -> ModelFiles:
    """These files; names and paths by the keys in a config."""
    files = {}
    for key, path in paths.items():
        files[key] = File(names[key], path.absolute(), path_sha256(kind, path))
    return ModelFiles(kind, files)


def _require_kind(kind: str | None, inferred: str | None, text: str) -> None:
    """
    Raises `InputError` if a name cannot mean the given `kind`. `inferred` is the kind
    that the name itself tells, `None` if it names no two files.
    """
    if kind is None or kind == inferred:
        return
    if kind == COVE:
        raise InputError(f"expected {_COVE_FORM} for CoVe", file=text)
    if inferred is not None:
        expected = SOURCES[kind].label
        problem = f"expected a {expected}, got {SOURCES[inferred].label}"
        raise InputError(problem, file=text)


def _require_file(path: Path, kind: str, key: str, name: str, where: str) -> None:
    """Raises `InputError` for something else in the place of a file."""
    _require_there(path, kind, key, name, where)
    if path.is_file():
        return
    got = "a pipe or a device"
    if path.is_dir():
        got = "a folder"
    raise InputError(f"expected a file, got {got}", file=path)


def _require_there(path: Path, kind: str, key: str, name: str, where: str) -> None:
    """Raises `InputError` if nothing is at a path."""
    if path.exists():
        return
    hint = f"set {where}{key}"
    if not os.path.isabs(os.path.expanduser(name)):
        hint += f"; relative paths start from {os.getcwd()}"
    what = SOURCES[kind].files[key]
    raise InputError(f"no such file: {what}", file=name, hint=hint)
