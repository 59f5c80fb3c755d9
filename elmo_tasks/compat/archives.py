"""Patches of `allennlp.models.archival`: one clear error for a damaged or unsafe archive."""

import functools
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from allennlp.common.meta import Meta
from allennlp.models import archival

from elmo_tasks.errors import InputError
from elmo_tasks.unpacking import ARCHIVED, unpack

MEMBERS: dict[str, Callable[[Path], bool]] = {
    "config.json": Path.is_file,
    "weights.th": Path.is_file,
    "vocabulary": Path.is_dir,
}
"""The members of every archive, and a test of the kind of each."""

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
    unpack(Path(archive_file), folder, ARCHIVED, file=str(archive_file))
    if lacking := [name for name, is_sound in MEMBERS.items() if not is_sound(Path(folder) / name)]:
        raise InputError(f"the archive lacks {', '.join(lacking)}", file=str(archive_file), hint=HINT)
    try:
        archival._parse_version(Meta.from_path(Path(folder) / archival.META_NAME).version)
    except FileNotFoundError:
        pass  # old archives have none
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        problem = f"the archive's {archival.META_NAME} is damaged: {error}"
        raise InputError(problem, file=str(archive_file), hint=HINT) from None


def _explain_errors(load: Callable[..., Any]) -> Callable[..., Any]:
    """A step of `load_archive`, whose errors are about the contents of the archive or the overrides."""

    @functools.wraps(load)
    def wrapper(*arguments: Any) -> Any:
        try:
            return load(*arguments)
        except (InputError, torch.OutOfMemoryError):
            raise
        except (RuntimeError, TypeError, ValueError, LookupError, AttributeError) as error:
            first, *rest = str(error).split("\n")
            if first.startswith(STATE_PREFIXES) and rest:
                hint = "overrides (-o) of a trained model must change neither its sizes nor the place of ELMo"
                raise InputError(f"the weights do not fit the configuration: {rest[0].strip()}", hint=hint) from error
            problem = f"no model can be built from the archive: {type(error).__name__}: {first}"
            raise InputError(problem, hint="ELMO_TASKS_TRACEBACK=1 shows the traceback") from error

    return wrapper


def _require_state(load: Callable[..., Any]) -> Callable[..., Any]:
    """The second step, which requires a state dictionary."""

    def load_model(config: Any, weights_file: str | PathLike[str], *arguments: Any) -> Any:
        try:
            is_zip = zipfile.is_zipfile(weights_file)  # else an older format, which cannot be memory-mapped
            state = torch.load(weights_file, map_location="cpu", mmap=is_zip, weights_only=True)
            if not isinstance(state, Mapping) or not all(isinstance(key, str) for key in state):
                raise TypeError(f"expected tensors by name, got {type(state).__name__}")
        except (RuntimeError, OSError, EOFError, UnpicklingError, TypeError, ValueError) as error:
            reason = str(error).split("\n")[0] or type(error).__name__
            raise InputError(f"the archive's {Path(weights_file).name} is damaged: {reason}", hint=HINT) from error
        return load(config, weights_file, *arguments)

    return load_model


def report_damaged_archives() -> None:
    """
    Reports a damaged archive in one line, and unpacks nothing outside of its folder.

    AllenNLP unpacks any path in an archive; a truncated archive gives an `EOFError` or an error deep in a constructor.
    The patch can go when AllenNLP does the same.
    """
    archival.extracted_archive = extracted
    archival._load_dataset_readers = _explain_errors(archival._load_dataset_readers)
    archival._load_model = _require_state(_explain_errors(archival._load_model))
