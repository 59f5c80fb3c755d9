"""Archives that are cut off, damaged or not safe to unpack: one error that names the file."""

import functools
import json
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from allennlp.models import archival

from elmo_tasks.errors import InputError

DAMAGE = (tarfile.TarError, EOFError, zlib.error, OSError)
"""What unpacking a damaged archive raises."""

MEMBERS = ("config.json", "weights.th", "vocabulary")
_MOST_PACKED = 100
_HARMLESS = 2**26
"""Bytes that an archive may unpack to, however small it is."""

SECTIONS = ("model", "dataset_reader")
STATE_PREFIX = "Error(s) in loading state_dict"
HINT = "`tar tzf` lists what is in it; copy it again, or make it anew with `allennlp train --recover`"


@contextmanager
def extracted(archive_file: str | PathLike[str], cleanup: bool = True) -> Iterator[str]:
    """
    AllenNLP's `extracted_archive`, which unpacks nothing outside of its folder, and looks whether all is there.

    # Raises

    `InputError`
        If the archive cannot be unpacked, a member would stand outside of the folder, or one is missing or damaged;
        nothing is left then.
    """
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
    if lacking := [name for name in MEMBERS if not (Path(folder) / name).exists()]:
        raise InputError(f"the archive lacks {', '.join(lacking)}", file=str(archive_file), hint=HINT)
    try:
        config = json.loads((Path(folder) / MEMBERS[0]).read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"the archive's {MEMBERS[0]} is damaged: {error}", file=str(archive_file), hint=HINT) from None
    for section in SECTIONS:
        if not isinstance(config, Mapping) or not isinstance(config.get(section), Mapping):
            problem = f"the archive's {MEMBERS[0]} has no object {section!r}"
            raise InputError(problem, file=str(archive_file), hint=HINT)


def _bounded(file: Path) -> Callable[[tarfile.TarInfo, str], tarfile.TarInfo | None]:
    """
    Looks at each member before it is unpacked: as `tarfile`'s filter `data` does, and whether all of them together are
    more than a model is; `InputError` where they are.
    """
    total, most = 0, max(_HARMLESS, _MOST_PACKED * file.stat().st_size)

    def looked_at(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
        nonlocal total
        total += member.size
        if total > most:
            problem = f"the archive unpacks to more than {_MOST_PACKED} times its size, which no model does"
            raise InputError(problem, file=str(file), hint=HINT)
        return tarfile.data_filter(member, folder)

    return looked_at


def telling(load: Callable[..., Any], *arguments: Any) -> Any:
    """A step of `load_archive` with its arguments, which tells in short what of the archive's contents is wrong."""
    try:
        return load(*arguments)
    except RuntimeError as error:
        if not str(error).startswith(STATE_PREFIX):
            raise
        hint = "overrides (-o) of a trained model must change neither its sizes nor where ELMo stands"
        first = str(error).split("\n", 2)[1].strip()
        raise InputError(f"the weights do not fit the configuration: {first}", hint=hint) from error
    except UnicodeDecodeError as error:
        raise InputError(f"the archive's weights are damaged: {error}", hint=HINT) from error
    except (TypeError, KeyError) as error:
        problem = f"the archive's configuration makes no model: {type(error).__name__}: {error}"
        raise InputError(problem, hint="ELMO_TASKS_TRACEBACK=1 shows where it failed") from error


def tell_damaged_archives() -> None:
    """
    Lets a damaged archive end in one line that names it, and unpacks none beyond its folder.

    AllenNLP unpacks whatever paths an archive names, and a cut-off one ends in an `EOFError` or deep in a constructor.
    Weights are read without executing pickles by torch itself (2.6 and later). It can go when AllenNLP does the same.
    """
    if archival.extracted_archive is extracted:
        return
    archival.extracted_archive = extracted
    for step in ("_load_model", "_load_dataset_readers"):
        setattr(archival, step, functools.partial(telling, getattr(archival, step)))
