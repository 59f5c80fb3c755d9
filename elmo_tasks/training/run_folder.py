"""
What the folder of a run contains: what AllenNLP and this package have written, and what
is somebody else's.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allennlp.common.util import namespace_match
from allennlp.data import Vocabulary
from allennlp.data.vocabulary import DEFAULT_OOV_TOKEN, NAMESPACE_PADDING_FILE
from allennlp.models import Model

from elmo_tasks.elmo.layers import Layers
from elmo_tasks.files import file_sha256, write_text
from elmo_tasks.run_names import (
    BEST,
    CHECKPOINT,
    CONFIG,
    FILES,
    FOLDERS,
    LOCK,
    META,
    SOURCE_FILES,
    VOCABULARY,
    VOCABULARY_RECORD,
    Written,
    of_all_runs,
)
from elmo_tasks.temporary import leftovers

_VERSION = re.compile(r"2\.\d+\.\d+\w*")
_CONFIG_KEYS = {"model", "trainer", "train_data_path"}


@dataclass(frozen=True)
class RunFolder:
    """
    The folder of a run.

    A link in it was made by a user. It is never followed, and under the name of a run's
    file or folder it is removed with these: the next run would write through it.
    """

    path: Path

    def is_run(self) -> bool:
        """
        Whether a run has begun here, by the contents of the two files that each run
        has.
        """
        return self.has_meta() and self._config().keys() >= _CONFIG_KEYS

    def has_meta(self) -> bool:
        """
        Whether `meta.json` is AllenNLP's, which contains only a version: other programs
        have files of that name, too.
        """
        meta = _read(self.path / META)
        version = str(meta.get("version"))
        return meta.keys() == {"version"} and bool(_VERSION.fullmatch(version))

    def has_checkpoint(self) -> bool:
        """Whether the file of a checkpoint is there."""
        return has_checkpoint(self.path)

    def remove_checkpoints(self) -> None:
        """
        Removes the checkpoints, which a finished run no longer needs; the archive and
        the metrics remain.
        """
        for name in _listed(self.path):
            if name == BEST or CHECKPOINT.fullmatch(name):
                (self.path / name).unlink(missing_ok=True)

    def names(self) -> list[str]:
        """The names in the folder, except locks and leftovers of killed processes."""
        hidden = {path.name for path in leftovers(self.path)}
        hidden.add(LOCK)
        return [name for name in _listed(self.path) if name not in hidden]

    def names_of_runs(self) -> list[str]:
        """
        Those of `names` that a run can give to its files and folders, whoever has made
        them.
        """
        files = of_all_runs(FILES)
        folders = of_all_runs(FOLDERS)
        return [
            name for name in self.names() if name in folders or _matches(name, files)
        ]

    def in_the_way(self) -> list[str]:
        """
        Folders with the names of a run's files, and files with those of its folders:
        `remove` leaves both.
        """
        folders = of_all_runs(FOLDERS)
        found = []
        for name in self.names_of_runs():
            path = self.path / name
            if path.is_symlink():
                continue
            if name in folders and path.is_file():
                found.append(name)
            if name not in folders and path.is_dir():
                found.append(name)
        return found

    def has_vocabulary(self) -> bool:
        """Whether the run has saved its whole vocabulary."""
        return bool(self._record().written)

    def vocabulary(self) -> list[Path]:
        """
        The files of the vocabulary: what the run has recorded, else all that were not
        there before it.
        """
        folder = self.path / VOCABULARY
        record = self._record()
        names = list(record.written)
        if not names:
            names = _without(_visible(folder), record.before)
        return [folder / name for name in names if os.path.lexists(folder / name)]

    def not_of_vocabulary(self) -> list[str]:
        """
        Names of files beside those of the vocabulary, which AllenNLP would read as a
        part of it.
        """
        own = [path.name for path in self.vocabulary()]
        return _without(_visible(self.path / VOCABULARY), own)

    def record_vocabulary(self, vocabulary: Vocabulary | None = None) -> None:
        """
        Notes that the files of the vocabulary are the run's, but for those that were
        there before it.
        """
        folder = self.path / VOCABULARY
        if not folder.is_dir():
            return
        before = self._record().before
        names = set(_without(_visible(folder), before))
        if vocabulary is not None:
            names |= {f"{name}.txt" for name in vocabulary.get_namespaces()}
        written = {}
        for name in sorted(names):
            if (folder / name).is_file():
                written[name] = file_sha256(folder / name)
        self._save(_Record(before, written))

    def record_sources(self, model: Model) -> None:
        """
        Notes the digests of the files of a model's frozen sources, if it has any: see
        `source_files.trained_on`.
        """
        records = []
        for module in model.modules():
            if isinstance(module, Layers) and module.files is not None:
                records.append(module.files.to_record())
        if records:
            write_text(self.path / SOURCE_FILES, json.dumps(records, indent=1) + "\n")

    def remove(self) -> list[str]:
        """
        Removes the files of the run, and its folders if nothing else is left in them.
        Returns what else there is: paths below the folder.
        """
        marks = [self.path / META, self.path / CONFIG]
        for path in [*self._files(), *self._vocabulary_of_run(), *self._leftovers()]:
            if path not in marks:
                path.unlink(missing_ok=True)
        for name in self._of_run(FOLDERS):
            if self._is_folder(name):
                with suppress(OSError):  # it is not empty
                    (self.path / name).rmdir()
        if self._is_folder(VOCABULARY):
            self._save(_Record(_visible(self.path / VOCABULARY), {}))
        others = sorted(self._others())
        for path in marks:  # last: a call that is killed before finds a run again
            path.unlink()
        return others

    def _files(self) -> Iterator[Path]:
        """
        The files of the run, without those of its vocabulary, and links in the place of
        its files and folders.
        """
        patterns = self._of_run(FILES)
        for name in self._of_run(FOLDERS):
            parent = os.path.dirname(name)
            is_inside = not parent or self._is_folder(parent)
            if is_inside and (self.path / name).is_symlink():
                yield self.path / name
        for name in self._places():
            for entry in _listed(self.path / name):
                path = self.path / name / entry
                is_file = path.is_symlink() or path.is_file()
                if is_file and _matches(f"{name}/{entry}".lstrip("/"), patterns):
                    yield path

    def _vocabulary_of_run(self) -> Iterator[Path]:
        """
        The files of the vocabulary that are as the run has written them. Without a
        record, of AllenNLP's own `train`, those that have the contents of a namespace.
        """
        folder = self.path / VOCABULARY
        written = self._record().written
        if not self._is_folder(VOCABULARY):
            return
        for name in _visible(folder):
            path = folder / name
            if path.is_symlink():
                is_own = name in written
            elif not path.is_file():
                is_own = False
            elif written:
                is_own = written.get(name) == file_sha256(path)
            else:
                is_own = self._is_namespace(path)
            if is_own:
                yield path

    def _is_namespace(self, file: Path) -> bool:
        """
        Whether a file of a vocabulary has what AllenNLP writes to one of this name.
        """
        padding = file.parent / NAMESPACE_PADDING_FILE
        if file == padding:
            return True
        if file.suffix != ".txt" or not padding.is_file():
            return False
        patterns = padding.read_text("utf-8", errors="replace").split()
        if any(namespace_match(pattern, file.stem) for pattern in patterns):
            return True
        unknown = DEFAULT_OOV_TOKEN
        given = self._config().get("vocabulary")
        if isinstance(given, dict):
            unknown = str(given.get("oov_token", DEFAULT_OOV_TOKEN))
        with file.open("rb") as opened:
            return opened.readline(1000).rstrip(b"\r\n") == unknown.encode()

    def _leftovers(self) -> Iterator[Path]:
        """The temporary files of killed processes."""
        for name in self._places():
            for path in leftovers(self.path / name):
                if path.is_file():
                    yield path

    def _others(self) -> Iterator[str]:
        """
        What is in the folder, and in those of the run, without the run's folders
        themselves.
        """
        places = self._places()
        for name in places:
            for entry in _listed(self.path / name):
                below = f"{name}/{entry}".lstrip("/")
                is_own = below in (
                    LOCK,
                    CONFIG,
                    META,
                    VOCABULARY_RECORD,
                )
                if below not in places and not is_own:
                    yield below

    def _places(self) -> list[str]:
        """The folder itself, and those of the run in it."""
        return [""] + [name for name in self._of_run(FOLDERS) if self._is_folder(name)]

    def _of_run(self, known: Written) -> list[str]:
        """Those of `FILES` or `FOLDERS` that a run with this config writes."""
        config = json.dumps(self._config())
        found: list[str] = []
        for callback, texts in known.items():
            if callback is None or f'"{callback}"' in config:
                found += texts
        return found

    def _is_folder(self, name: str) -> bool:
        """Whether one of `FOLDERS` is a folder, in a folder, and no link."""
        path = self.path
        for part in Path(name).parts:
            path = path / part
            if path.is_symlink() or not path.is_dir():
                return False
        return True

    def _config(self) -> Mapping[str, Any]:
        return _read(self.path / CONFIG)

    def _record(self) -> "_Record":
        found = _read(self.path / VOCABULARY_RECORD)
        before = found.get("before")
        if not isinstance(before, list):
            before = []
        written = found.get("written")
        if not isinstance(written, dict):
            written = {}
        return _Record(before, written)

    def _save(self, record: "_Record") -> None:
        content = {"before": record.before, "written": record.written}
        write_text(
            self.path / VOCABULARY_RECORD,
            json.dumps(content, indent=1),
        )


@dataclass(frozen=True)
class _Record:
    """
    Names in the folder of the vocabulary: those that were there before the run; the
    run's, and their SHA-256.
    """

    before: list[str]
    written: dict[str, str]


def has_checkpoint(folder: Path) -> bool:
    """Whether the file of a checkpoint is in the folder of a run."""
    return any(CHECKPOINT.fullmatch(name) for name in _listed(folder))


def _matches(text: str, patterns: list[str]) -> bool:
    return any(re.fullmatch(pattern, text, re.DOTALL) for pattern in patterns)


def _listed(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _visible(folder: Path) -> list[str]:
    return [name for name in _listed(folder) if not name.startswith(".")]


def _without(names: Iterable[str], others: Sequence[str]) -> list[str]:
    """
    The names that are none of the others, which a damaged record may have of any type.
    """
    return [name for name in names if name not in others]


def _read(file: Path) -> Mapping[str, Any]:
    """
    The object in a JSON file; an empty one if there is none, or the file is a link.
    """
    if file.is_symlink() or not file.is_file():
        return {}
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return found
