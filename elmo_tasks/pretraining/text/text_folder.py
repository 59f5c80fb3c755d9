"""
The folder of a prepared text: what a call writes there, and how a later call resumes
it.
"""

import json
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from hashlib import file_digest
from pathlib import Path
from typing import Any

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.formats.text.text_sets import BEGUN, SUCCESS
from elmo_tasks.pretraining.text.splits import HELDOUT, SPLITS, TRAIN, Written
from elmo_tasks.system.files import write_text

_FINISHED = "_finished"


@dataclass(frozen=True)
class Prepared:
    """
    What became of a file: `paragraphs` is `line` or `blank`, `None` for a text with a
    sentence a line; `marks` are the typographic marks that are plain in the text.
    """

    file: str
    sha256: str
    documents: int
    paragraphs: str | None
    train: Written
    heldout: Written
    marks: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "Prepared":
        found = read_json(path, "what is known of a finished file")
        for split in SPLITS:
            found[split] = Written(*found[split])
        return cls(**found)

    @property
    def splits(self) -> dict[str, Written]:
        return {TRAIN: self.train, HELDOUT: self.heldout}


@dataclass(frozen=True)
class TextFolder:
    """
    The folder of a prepared text. In the order in which a call writes them, it has

    - `_prepare.json`: the settings of the call, which another one must have to resume
      it;
    - for each file its text, `train.NAME.txt.gz` and `heldout.NAME.txt.gz`, and then
      `_finished/NUMBER.json`: what is known of it, its SHA-256 and the sizes of its
      text, by which another call sees that nothing is left to do for it;
    - `_SUCCESS`: the totals of the text, which is complete. `_finished` is removed.
    """

    path: Path

    def begin(self, settings: dict[str, Any]) -> None:
        """
        Write the settings to a new folder, or compare them with those of an interrupted
        call. Raises `InputError` if they differ, or the folder has a text.
        """
        begun = self.path / BEGUN
        has_text = self._has_text()
        is_complete = (self.path / SUCCESS).exists()
        if is_complete:
            self._remove_records()
        if is_complete or (has_text and not begun.exists()):
            raise InputError(
                "the folder already has files of a training text",
                file=self.path,
                hint="name another, or remove it",
            )
        if begun.exists():
            _require_same(read_json(begun, "the settings of a call"), settings, begun)
        write_text(begun, json.dumps(settings, indent=1) + "\n")

    def outputs(self, file: Path, index: int) -> dict[str, Path]:
        """The files of both splits. The number keeps equal names apart."""
        name = f"{index:04d}.{file.name.split('.')[0]}.txt.gz"
        return {split: self.path / f"{split}.{name}" for split in SPLITS}

    def finished(self, file: Path, index: int) -> Prepared | None:
        """
        The record of an earlier call that prepared a file. `None` if the file must be
        prepared, for the first time or again because the text made from it is no longer
        intact. Raises `InputError` if the file itself has changed.
        """
        record = self._record(index)
        if not record.exists():
            return None
        prepared = Prepared.read(record)
        if sha256_of(file) != prepared.sha256:
            raise InputError(
                "the file has changed since an interrupted call prepared it",
                file=file,
                hint="restore it to resume, or name another folder",
            )
        outputs = self.outputs(file, index)
        for split, written in prepared.splits.items():
            if not _is_there(outputs[split], written):
                return None
        return prepared

    def write_finished(self, prepared: Prepared, index: int) -> None:
        """Record what became of a file, whose text is complete."""
        write_text(self._record(index), json.dumps(asdict(prepared)) + "\n")

    def has_heldout(self) -> bool:
        return any(self.path.glob(f"{HELDOUT}.*"))

    def complete(self, prepared: list[Prepared]) -> None:
        """Write the totals, with which the text is complete."""
        write_text(self.path / SUCCESS, json.dumps(_totals(prepared)) + "\n")
        self._remove_records()

    def withdraw(self) -> None:
        """
        Remove the files of this call after an error in the input, unless some text has
        already been written.
        """
        if not self._has_text():
            with suppress(OSError):
                (self.path / _FINISHED).rmdir()
            (self.path / BEGUN).unlink(missing_ok=True)

    def _record(self, index: int) -> Path:
        return self.path / _FINISHED / f"{index:04d}.json"

    def _remove_records(self) -> None:
        shutil.rmtree(self.path / _FINISHED, ignore_errors=True)

    def _has_text(self) -> bool:
        return self.has_heldout() or any(self.path.glob(f"{TRAIN}.*"))


def sha256_of(file: Path) -> str:
    with file.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest()


def _is_there(output: Path, written: Written) -> bool:
    """Whether an output is as it was written."""
    if not written.sentences:
        return not output.exists()
    return output.is_file() and output.stat().st_size == written.bytes


def _require_same(recorded: Any, expected: dict[str, Any], file: Path) -> None:
    """Raises `InputError` that lists the settings of a file that differ."""
    known = recorded if isinstance(recorded, dict) else {}
    differing = []
    for key, value in expected.items():
        if known.get(key) != value:
            differing.append(f"{key} was {shown(known.get(key))}, is {shown(value)}")
    if differing:
        raise InputError(
            "an interrupted call began this text with other settings: "
            + "; ".join(differing),
            file=file,
            hint="use the same input and options to resume, or another folder",
        )


def _totals(prepared: list[Prepared]) -> dict[str, Any]:
    """The number of documents, and those of sentences and words in each split."""
    documents = 0
    sentences = dict.fromkeys(SPLITS, 0)
    words = dict.fromkeys(SPLITS, 0)
    for file in prepared:
        documents += file.documents
        for split, written in file.splits.items():
            sentences[split] += written.sentences
            words[split] += written.words
    totals: dict[str, Any] = {"documents": documents}
    for split in SPLITS:
        totals[split] = {"sentences": sentences[split], "words": words[split]}
    return totals
