"""Corpora in common formats -> the text that a biLM is trained on: a sentence a line, words between blanks."""

import json
import logging
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import partial
from gzip import GzipFile
from hashlib import file_digest, sha256
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from tqdm import tqdm

from elmo_tasks.errors import InputError, shown
from elmo_tasks.files import atomic_write, write_text
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.formats.parquet import read_column
from elmo_tasks.formats.raw_text import blank_pipeline, split_at_blanks
from elmo_tasks.formats.text_files import lines_of, open_binary
from elmo_tasks.formats.text_sets import BEGUN, SUCCESS
from elmo_tasks.pretraining.paragraphs import (
    BLANK,
    Line,
    Sentence,
    find_paragraphs,
    lines_of_texts,
    sentence_splitter,
    sentences_of_lines,
    sentences_of_paragraphs,
)
from elmo_tasks.pretraining.sentences import expand_files
from elmo_tasks.processes import POLL_SECONDS, worker_pool
from elmo_tasks.settings import Count, Size, checked
from elmo_tasks.temporary import leftovers

logger = logging.getLogger(__name__)

BLOCK = 20
"""Consecutive paragraphs that go to the same split, so that held-out text has few neighbours in the training text."""


def _not_all(one_in: int) -> str | None:
    return "0, or an integer of at least 2" if one_in == 1 else None


HeldOut = Annotated[Count, _not_all]
"""One in so many; 0 for none."""

FORMAT = 1
"""Increased when the same input gives another text."""

SPLITS = ("train", "heldout")

_SUFFIXES = (".txt", ".jsonl", ".parquet", ".gz", ".zst")
_FINISHED = "_finished"


class Written(NamedTuple):
    """What was written to a file of a split: nothing if there are no sentences, and no file then."""

    sentences: int = 0
    words: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class Prepared:
    """What became of a file: `paragraphs` is `line` or `blank`, `None` for a text with a sentence a line."""

    file: str
    sha256: str
    documents: int
    paragraphs: str | None
    train: Written
    heldout: Written

    @classmethod
    def read(cls, path: Path) -> "Prepared":
        found = read_json(path, "what is known of a finished file")
        return cls(**found | {split: Written(*found[split]) for split in SPLITS})


@dataclass(frozen=True, kw_only=True)
class _Job:
    """What all files have in common; see `prepare`."""

    folder: Path
    language: str | None
    paragraphs: str | None
    text_field: str
    heldout: int

    def settings(self, files: list[Path]) -> dict[str, Any]:
        """All that the text depends on but the contents of the files, which are compared by their SHA-256."""
        names = "\0".join(file.name for file in files)
        rules = None if self.language is None else f"spaCy {version('spacy')}"
        return {
            "format": FORMAT,
            "language": self.language,
            "rules": rules,
            "paragraphs": self.paragraphs,
            "text_field": self.text_field,
            "heldout": self.heldout,
            "files": len(files),
            "names_sha256": sha256(os.fsencode(names)).hexdigest(),
        }

    def outputs(self, file: Path, place: int) -> dict[str, Path]:
        """The files of both splits. The number keeps equal names apart."""
        name = f"{place:04d}.{file.name.split('.')[0]}.txt.gz"
        return {split: self.folder / f"{split}.{name}" for split in SPLITS}

    def record(self, place: int) -> Path:
        """What is known of a finished file, written after its outputs."""
        return self.folder / _FINISHED / f"{place:04d}.json"


@checked
def prepare(
    inputs: Iterable[str],
    out: str | Path,
    *,
    language: str | None = None,
    paragraphs: Literal["line", "blank"] | None = None,
    text_field: str = "text",
    heldout: HeldOut = 100,
    workers: Size = 1,
) -> list[Prepared]:
    """
    Write `train.NAME.txt.gz` and `heldout.NAME.txt.gz` for each file into a folder that has none of these, or continue
    an interrupted call with the same arguments, whose finished files are kept. The bytes do not depend on
    interruptions. `_prepare.json` is written first and `_SUCCESS` last: trainings reject the text in between.

    # Parameters

    - `inputs`: paths, globs and folders of text, JSON lines (`.jsonl`), both also gzip or zstd, and Parquet.
    - `language`: code of the spaCy rules that split raw text into sentences and words. Default: the text has a sentence
      a line, and blanks between words.
    - `paragraphs`: of raw text: a `line`, or what is between `blank` lines, so that a sentence may go on in the next
      line. Default: decided for each file, see `find_paragraphs`.
    - `text_field`: the text's name in JSON lines and Parquet.
    - `heldout`: one block of `BLOCK` paragraphs in so many is held out; 0 for none. A long paragraph counts as one for
      every `PARAGRAPH` characters.
    - `workers`: the number of processes; each writes one file.

    Returns what became of each file. Raises `InputError` if a file is missing, cannot be read or has no text, `out` has
    been written before, or the arguments or files differ from those of the interrupted call.
    """
    if language is not None:
        blank_pipeline(language)
    elif paragraphs == BLANK:
        raise InputError(
            "paragraphs: expected a language, whose rules find the sentences",
            hint="add --language, or xx for rules for any language",
        )
    job = _Job(
        folder=Path(out),
        language=language,
        paragraphs=paragraphs,
        text_field=text_field,
        heldout=heldout,
    )
    files = _input_files(inputs, job.folder)
    _begin(job, files)
    try:
        prepared = _prepare_files(job, files, workers)
    except InputError:
        _withdraw(job)
        raise
    if heldout and not any(job.folder.glob("heldout.*")):
        logger.warning(
            "%s: nothing is held out, there are fewer than %d paragraphs",
            out,
            BLOCK + 1,
        )
    _wait_for_workers(job.folder)
    write_text(job.folder / SUCCESS, json.dumps(_totals(prepared)) + "\n")
    shutil.rmtree(job.folder / _FINISHED, ignore_errors=True)
    return prepared


def _totals(prepared: list[Prepared]) -> dict[str, Any]:
    totals: dict[str, Any] = {"documents": sum(one.documents for one in prepared)}
    for split in SPLITS:
        written = [getattr(one, split) for one in prepared]
        totals[split] = {
            "sentences": sum(one.sentences for one in written),
            "words": sum(one.words for one in written),
        }
    return totals


def _input_files(inputs: Iterable[str], folder: Path) -> list[Path]:
    """The files that are read, but for those of an output folder that is below an input."""
    output, found = folder.resolve(), {}
    for entry in inputs:
        is_output = output in (Path(entry).resolve(), *Path(entry).resolve().parents)
        for file in _files(entry):
            if output not in file.resolve().parents:
                found[file.resolve()] = file
            elif is_output:
                raise InputError(
                    "expected another folder for the text than that of the input",
                    file=file,
                )
    if not found:
        raise InputError("expected input outside of the output folder", file=folder)
    return list(found.values())


def _files(entry: str) -> list[Path]:
    if not Path(entry).is_dir():
        return expand_files(entry)
    found = sorted(
        path
        for path in Path(entry).rglob("*")
        if path.suffix in _SUFFIXES and path.is_file()
    )
    if not found:
        raise InputError(
            f"expected files that end in {', '.join(_SUFFIXES)}, found none", file=entry
        )
    return found


def _begin(job: _Job, files: list[Path]) -> None:
    """Write the settings to a new folder, or compare them with those of an interrupted call."""
    begun, settings = job.folder / BEGUN, job.settings(files)
    has_text = _has_text(job.folder)
    is_complete = (job.folder / SUCCESS).exists()
    if is_complete:
        shutil.rmtree(job.folder / _FINISHED, ignore_errors=True)
    if is_complete or (has_text and not begun.exists()):
        raise InputError(
            "the folder has files of a training text",
            file=job.folder,
            hint="name another, or remove it",
        )
    if begun.exists():
        _require_same(read_json(begun, "the settings of a call"), settings, begun)
    _remove_leftovers(job.folder)
    write_text(begun, json.dumps(settings, indent=1) + "\n")


def _has_text(folder: Path) -> bool:
    return any(any(folder.glob(f"{split}.*")) for split in SPLITS)


def _remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of killed calls."""
    own = tuple(f".{name}." for name in (*SPLITS, BEGUN, SUCCESS))
    if folder.is_dir():
        for left in leftovers(folder):
            if left.name.startswith(own):
                left.unlink(missing_ok=True)
    if (folder / _FINISHED).is_dir():
        for left in leftovers(folder / _FINISHED):
            left.unlink(missing_ok=True)


def _wait_for_workers(folder: Path) -> None:
    """
    Remove the temporary files of processes that a killed call has started, which end when they see that it is gone.
    Those of a call at the same time stay.
    """
    ends = time.monotonic() + 3 * POLL_SECONDS
    _remove_leftovers(folder)
    while any(folder.glob(".*.txt.gz.*.tmp")) and time.monotonic() < ends:
        time.sleep(POLL_SECONDS / 10)
        _remove_leftovers(folder)


def _require_same(found: Any, expected: dict[str, Any], file: Path) -> None:
    known = found if isinstance(found, dict) else {}
    differing = [
        f"{key} was {shown(known.get(key))}, is {shown(value)}"
        for key, value in expected.items()
        if known.get(key) != value
    ]
    if differing:
        raise InputError(
            "an interrupted call began this text in another way: "
            + "; ".join(differing),
            file=file,
            hint="use the same input and options to resume, or another folder",
        )


def _withdraw(job: _Job) -> None:
    """After an error in the input, leave no file if there is no text yet."""
    if not _has_text(job.folder):
        with suppress(OSError):
            (job.folder / _FINISHED).rmdir()
        (job.folder / BEGUN).unlink(missing_ok=True)


def _prepare_files(job: _Job, files: list[Path], workers: int) -> list[Prepared]:
    prepared: list[Prepared] = []
    with worker_pool(workers) if workers > 1 else nullcontext() as pool:
        each = map if pool is None else pool.map
        written = each(partial(_prepare_file, job), files, range(len(files)))
        prepared.extend(tqdm(written, total=len(files), desc="files", disable=None))
    return prepared


def _prepare_file(job: _Job, file: Path, place: int) -> Prepared:
    """Write the files of both splits, unless an earlier call has."""
    outputs, record = job.outputs(file, place), job.record(place)
    if record.exists():
        found = Prepared.read(record)
        _require_unchanged(file, found)
        if all(_is_there(outputs[split], getattr(found, split)) for split in SPLITS):
            return found
    paragraphs = job.paragraphs
    if job.language is None:
        paragraphs = None
    elif paragraphs is None:
        paragraphs = find_paragraphs(read_lines(file, job.text_field))
    documents = _Documents(read_lines(file, job.text_field, report=True))
    sentences = _sentences(documents, job.language, paragraphs)
    written = _write_splits(sentences, outputs, place, job.heldout)
    if not any(one.sentences for one in written.values()):
        raise InputError("expected text, got none", file=file)
    prepared = Prepared(
        file.name, _sha256(file), documents.count, paragraphs, **written
    )
    write_text(record, json.dumps(asdict(prepared)) + "\n")
    return prepared


def _require_unchanged(file: Path, found: Prepared) -> None:
    if _sha256(file) != found.sha256:
        raise InputError(
            "the file has changed since an interrupted call prepared it",
            file=file,
            hint="restore it to resume, or name another folder",
        )


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest()


def _is_there(output: Path, written: Written) -> bool:
    """Whether an output is as it was written."""
    if not written.sentences:
        return not output.exists()
    return output.is_file() and output.stat().st_size == written.bytes


class _Documents:
    """Lines, and the number of their documents that are not blank."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines, self._last = lines, -1
        self.count = 0

    def __iter__(self) -> Iterator[Line]:
        for line in self._lines:
            if line.document != self._last and line.text.strip():
                self.count, self._last = self.count + 1, line.document
            yield line


def _sentences(
    lines: Iterable[Line], language: str | None, paragraphs: str | None
) -> Iterator[Sentence]:
    """The sentences by spaCy's rules for a language; without one, the lines."""
    if language is not None and paragraphs is not None:
        yield from sentences_of_paragraphs(
            lines, paragraphs, sentence_splitter(language)
        )
        return
    split = split_at_blanks("--language splits raw text")
    yield from sentences_of_lines(lines, split)
    split.end_of_text()


def _write_splits(
    sentences: Iterator[Sentence],
    outputs: dict[str, Path],
    place: int,
    heldout: int,
) -> dict[str, Written]:
    """Write the two files of an input. Equal sentences give equal bytes."""
    counts = {split: [0, 0] for split in SPLITS}
    opened: dict[str, GzipFile] = {}
    with ExitStack() as stack:
        for paragraph, words in sentences:
            if not words:
                continue
            # The place holds out some of many short files, too.
            is_held_out = heldout > 0 and (place + paragraph // BLOCK) % heldout == 1
            split = "heldout" if is_held_out else "train"
            if split not in opened:
                opened[split] = stack.enter_context(_new_gzip(outputs[split]))
            opened[split].write(" ".join(words).encode() + b"\n")
            counts[split][0] += 1
            counts[split][1] += len(words)
    written = {}
    for split, output in outputs.items():
        sentence_count, word_count = counts[split]
        if split in opened:
            size = output.stat().st_size
            written[split] = Written(sentence_count, word_count, size)
        else:
            output.unlink(missing_ok=True)
            written[split] = Written()
    return written


@contextmanager
def _new_gzip(path: Path) -> Iterator[GzipFile]:
    """A file that has its name when it is complete, without a name and a time in its header."""
    with (
        atomic_write(path) as aside,
        aside.open("wb") as file,
        GzipFile("", "wb", 4, file, mtime=0) as out,
    ):
        yield out


def read_lines(file: Path, text_field: str, *, report: bool = False) -> Iterator[Line]:
    """
    The lines of a file in one of the formats of `prepare`, each with the number of its document: a text file is one, as
    is each text in JSON lines and Parquet. Lines of the file that are not UTF-8 or have a NUL byte are skipped, with
    `report` with a warning. Raises `InputError` with the line or the field.
    """
    skipped: list[InputError] = []
    yield from lines_of_texts(_texts(file, text_field, skipped))
    if skipped and report:
        logger.warning(
            "%s: skipped lines that are no text: %d, the first is %s",
            file,
            len(skipped),
            skipped[0],
        )


def _texts(
    file: Path, text_field: str, skipped: list[InputError]
) -> Iterator[tuple[int, str]]:
    with open_binary(file) as opened:
        if file.suffix == ".parquet":
            for number, value in read_column(opened, file, text_field):
                yield number, _checked(value, text_field, file, number)
            return
        for number, line in lines_of(opened, file):
            if isinstance(line, InputError):
                skipped.append(line)
            elif ".jsonl" in file.suffixes:
                yield number, _json_text(line, text_field, file, number)
            else:
                yield 0, line


def _json_text(line: str, text_field: str, file: Path, number: int) -> str:
    try:
        text = json.loads(line)[text_field]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError(
            f"expected a JSON object with {text_field!r}", file=file, line=number
        ) from None
    return _checked(text, text_field, file, number)


def _checked(text: Any, text_field: str, file: Path, number: int) -> str:
    """A text without lone surrogates and NUL, which JSON can have."""
    if not isinstance(text, str):
        raise InputError(
            f"expected {text_field!r} to be a text, got {text!r:.60}",
            file=file,
            line=number,
        )
    return text.replace("\0", "").encode(errors="ignore").decode()
