"""Patches of `allennlp.models.archival`: one clear error for a damaged or unsafe archive."""

import functools
import json
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from allennlp.common import Params
from allennlp.common.meta import Meta
from allennlp.models import archival
from allennlp.version import VERSION

from elmo_tasks.errors import InputError

DAMAGE = (tarfile.TarError, EOFError, zlib.error, OSError)

CONFIG, META = "config.json", "meta.json"
MEMBERS: dict[str, Callable[[Path], bool]] = {
    CONFIG: Path.is_file,
    "weights.th": Path.is_file,
    "vocabulary": Path.is_dir,
}
"""The members of every archive, and a test of the kind of each."""

_MOST_PACKED = 100
_HARMLESS = 2**26  # bytes, to which an archive of any size can unpack

SECTIONS = ("model", "dataset_reader")
STATE_PREFIXES = ("Error(s) in loading state_dict", "Error loading state dict")
HINT = "`tar tzf` lists its members; copy it again, or write it again with `allennlp train --recover`"


@contextmanager
def extracted(archive_file: str | PathLike[str], cleanup: bool = True) -> Iterator[str]:
    """AllenNLP's `extracted_archive`, which raises `InputError` and leaves no files if the archive is invalid."""
    folder = tempfile.mkdtemp()
    try:
        _unpack(archive_file, folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    try:
        yield folder
    finally:
        if cleanup:
            shutil.rmtree(folder, ignore_errors=True)


def _unpack(archive_file: str | PathLike[str], folder: str) -> None:
    try:
        with tarfile.open(archive_file, "r:gz") as archive:
            archive.extractall(folder, filter=_bounded(Path(archive_file)))
    except DAMAGE as error:
        raise InputError(f"the archive cannot be unpacked: {error}", file=str(archive_file), hint=HINT) from error
    if lacking := [name for name, is_sound in MEMBERS.items() if not is_sound(Path(folder) / name)]:
        raise InputError(f"the archive lacks {', '.join(lacking)}", file=str(archive_file), hint=HINT)
    with _reading(CONFIG, archive_file):
        config = json.loads((Path(folder) / CONFIG).read_text("utf-8"))
    if (Path(folder) / META).exists():
        with _reading(META, archive_file):
            Meta.from_path(Path(folder) / META)
    for section in SECTIONS:
        if not isinstance(config, Mapping) or not isinstance(config.get(section), Mapping):
            problem = f"the archive's {CONFIG} has no object {section!r}"
            raise InputError(problem, file=str(archive_file), hint=HINT)


@contextmanager
def _reading(member: str, archive_file: str | PathLike[str]) -> Iterator[None]:
    try:
        yield
    except (OSError, TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the archive's {member} is damaged: {error}", file=str(archive_file), hint=HINT) from None


def _bounded(file: Path) -> Callable[[tarfile.TarInfo, str], tarfile.TarInfo | None]:
    """The filter `data` of `tarfile`, which also raises `InputError` for a decompression bomb."""
    total, most = 0, max(_HARMLESS, _MOST_PACKED * file.stat().st_size)

    def filtered(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
        nonlocal total
        total += member.size
        if total > most:
            problem = f"the archive unpacks to more than {_MOST_PACKED} times its size, more than any model"
            raise InputError(problem, file=str(file), hint=HINT)
        return tarfile.data_filter(member, folder)

    return filtered


def wrap_load_errors(load: Callable[..., Any], *arguments: Any) -> Any:
    """Runs a step of `load_archive`, and shortens errors about the contents of the archive."""
    try:
        return load(*arguments)
    except RuntimeError as error:
        if not str(error).startswith(STATE_PREFIXES):
            raise
        hint = "overrides (-o) of a trained model must change neither its sizes nor the place of ELMo"
        first = str(error).split("\n", 2)[1].strip()
        raise InputError(f"the weights do not fit the configuration: {first}", hint=hint) from error
    except UnicodeDecodeError as error:
        raise InputError(f"the archive's vocabulary is damaged: {error}", hint=HINT) from error
    except (TypeError, KeyError) as error:
        problem = f"no model can be built from the archive's configuration: {type(error).__name__}: {error}"
        raise InputError(problem, hint="ELMO_TASKS_TRACEBACK=1 shows the traceback") from error


def load_readers(load: Callable[..., Any], config: Params, *arguments: Any) -> Any:
    """The first step of `load_archive`. Overrides can replace a section of the configuration."""
    for section in (*SECTIONS, "validation_dataset_reader"):
        if not isinstance(value := config.params.get(section, {}), Mapping):
            raise InputError(f"{section}: expected an object, got {json.dumps(value)}")
    return wrap_load_errors(load, config, *arguments)


def load_model(load: Callable[..., Any], config: Params, weights_file: str | PathLike[str], *arguments: Any) -> Any:
    """The second step, which requires a state dictionary."""
    name = Path(weights_file).name
    try:
        is_zip = zipfile.is_zipfile(weights_file)  # else an older format, which cannot be memory-mapped
        state = torch.load(weights_file, map_location="cpu", mmap=is_zip, weights_only=True)
    except (RuntimeError, EOFError, UnpicklingError, UnicodeDecodeError) as error:
        reason = str(error).split("\n")[0] or type(error).__name__
        raise InputError(f"the archive's {name} is damaged: {reason}", hint=HINT) from error
    expected = f"expected tensors by name in the archive's {name}"
    if not isinstance(state, Mapping):
        raise InputError(f"{expected}, got {type(state).__name__}", hint=HINT)
    if others := [key for key in state if not isinstance(key, str)]:
        raise InputError(f"{expected}, got the name {others[0]!r}", hint=HINT)
    return wrap_load_errors(load, config, weights_file, *arguments)


def check_version(check: Callable[..., None], archive_file: str | PathLike[str], meta: Meta) -> None:
    """The last step, which requires a version."""
    if not isinstance(meta.version, str) or meta.version.count(".") < 2:
        problem = f"expected a version like {VERSION!r} in the archive's {META}, got {meta.version!r}"
        raise InputError(problem, file=str(archive_file), hint=HINT)
    check(archive_file, meta)


def report_damaged_archives() -> None:
    """
    Reports a damaged archive in one line, and unpacks nothing outside of its folder.

    AllenNLP unpacks any path in an archive; a truncated archive gives an `EOFError` or an error deep in a constructor.
    The patch can go when AllenNLP does the same.
    """
    archival.extracted_archive = extracted
    archival._load_dataset_readers = functools.partial(load_readers, archival._load_dataset_readers)
    archival._load_model = functools.partial(load_model, archival._load_model)
    archival._check_version_compatibility = functools.partial(check_version, archival._check_version_compatibility)
