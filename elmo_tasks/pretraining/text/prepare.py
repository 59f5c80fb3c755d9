"""
Corpora in common formats -> the text that a biLM is trained on: a sentence a line,
words between blanks.

The steps are those of `_prepare_file`: the lines of a file (`raw_files.py`), its
paragraphs and their sentences (`paragraphs.py`), and the files of both splits
(`splits.py`).
"""

import logging
import multiprocessing
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Optional

from pydantic import SkipValidation

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.marks import Folding, Marks
from elmo_tasks.formats.text.raw_text import SplitAtBlanks, blank_pipeline
from elmo_tasks.option_values import HeldOut, Quoting
from elmo_tasks.pretraining.text.paragraphs import (
    Line,
    ParagraphSentence,
    sentence_splitter,
    sentences_of_lines,
    sentences_of_paragraphs,
)
from elmo_tasks.pretraining.text.raw_files import input_files, read_lines
from elmo_tasks.pretraining.text.splits import (
    BLOCK,
    HELDOUT,
    SPLITS,
    TRAIN,
    Written,
    write_splits,
)
from elmo_tasks.settings import PathLike, Size, checked
from elmo_tasks.system.processes import exit_with_starter

logger = logging.getLogger(__name__)


class Prepared(NamedTuple):
    """
    What became of a file; `marks` are the typographic marks that are plain in the text.
    """

    file: str
    train: Written
    heldout: Written
    marks: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class _Job:
    """What all files have in common; see `prepare`."""

    folder: Path
    language: str | None
    wrapped: bool
    table: dict[str, Any]  # column, separator and quoting
    heldout: int
    marks: Marks  # that the vocabulary lacks for which the text is


@checked
def prepare(
    inputs: SkipValidation[Iterable[str]],
    out: PathLike,
    *,
    language: str | None = None,
    wrapped: bool = False,
    text_field: str = "text",
    separator: Optional[str] = None,
    quoting: Quoting = "minimal",
    heldout: HeldOut = 100,
    workers: Size = 1,
    model: Optional[PathLike] = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Prepared]:
    """
    Write `train.NUMBER.NAME.txt.gz` and `heldout.NUMBER.NAME.txt.gz` for each file into
    a new folder, which appears when the text is complete.

    # Parameters

    - `inputs`: paths, globs and folders of text, plain, gzip or zstd, and of tables.
    - `language`: code of the spaCy rules that split raw text into sentences and words.
      Default: the text has a sentence a line, and blanks between words.
    - `wrapped`: sentences of raw text go on in the next line, and blank lines separate
      paragraphs. Default: each line is a paragraph.
    - `text_field`: the column of the text in tables; `separator`, `quoting`: as in
      `read_table`.
    - `heldout`: one block of `BLOCK` paragraphs in so many is held out; 0 for none. A
      long paragraph counts as one for every `PARAGRAPH` characters.
    - `workers`: the number of processes; each writes one file.
    - `model`: the language model that the text is for, as of `load_trained`. Typographic
      marks that its vocabulary lacks are written as the plain ones that it has, and a
      warning says how many. Default: marks stay as they are.
    - `progress`: called after each file with how many are done, and how many there are.

    Returns what became of each file. Raises `InputError` if a file is missing, cannot
    be read or has no text, or `out` exists and is not empty.
    """
    if language is not None:
        blank_pipeline(language)
    elif wrapped:
        raise InputError(
            "wrapped: expected a language, whose rules find the sentences, got none",
            hint="add --language CODE; xx has rules for any language",
        )
    marks = Marks()
    if model is not None:
        from elmo_tasks.pretraining.export import load_trained  # imports torch

        marks = load_trained(model).vocabulary.marks
    table = {"column": text_field, "separator": separator, "quoting": quoting}
    files = _files(inputs)
    with _new_folder(Path(out)) as folder:
        job = _Job(
            folder=folder,
            language=language,
            wrapped=wrapped,
            table=table,
            heldout=heldout,
            marks=marks,
        )
        prepared = _prepare_files(job, files, workers, progress)
    if heldout and not any(one.heldout.sentences for one in prepared):
        logger.warning(
            "%s: nothing is held out, there are fewer than %d paragraphs",
            out,
            BLOCK + 1,
        )
    folding = Folding(marks)
    with folding.reading():
        for one in prepared:
            folding.found.update(one.marks)
    return prepared


def _files(inputs: Iterable[str]) -> list[Path]:
    """The files that are read, each once, by the last of its names."""
    found = {}
    for entry in inputs:
        for file in input_files(entry):
            found[file.resolve()] = file
    if not found:
        raise InputError("expected a text, got no name")
    return list(found.values())


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """
    A folder that has its name at the end, and is removed after an exception. Raises
    `InputError` if there is a file of the name, or a folder that is not empty.
    """
    problem = "expected a new or an empty folder, got one with files"
    hint = "name another, or remove it"
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(problem, file=folder, hint=hint)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Inside of another one, which only this user can read.
        aside = tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=folder) from error
    made = Path(aside) / folder.name
    try:
        made.mkdir()
        yield made
        os.replace(made, folder)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=folder) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _prepare_files(
    job: _Job,
    files: list[Path],
    workers: int,
    progress: Callable[[int, int], None] | None,
) -> list[Prepared]:
    """In this process, or by several; results and errors come in the order of files."""
    prepare_one = partial(_prepare_file, job)
    workers = min(workers, len(files))
    done: list[Prepared] = []
    with ExitStack() as stack:
        if workers > 1:
            pool = stack.enter_context(_processes(workers))
            # Not `map`, which cancels calls: Python 3.11 fails for those of killed
            # processes.
            calls = []
            for index, file in enumerate(files):
                calls.append(pool.submit(prepare_one, file, index))
            prepared: Iterable[Prepared] = (call.result() for call in calls)
        else:
            prepared = map(prepare_one, files, range(len(files)))
        for one in prepared:
            done.append(one)
            if progress is not None:
                progress(len(done), len(files))
    return done


@contextmanager
def _processes(count: int) -> Iterator[Executor]:
    """Processes that end with this one, and at an error, such as that of Ctrl-C."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, context, initializer=_begin_process) as pool:
        try:
            yield pool
        except BaseException as error:
            for process in multiprocessing.active_children():
                process.kill()
            if not isinstance(error, BrokenProcessPool):
                raise
            problem = "a worker process was killed (out of memory?)"
            hint = "repeat the command with fewer --workers"
            raise InputError(problem, hint=hint) from None


def _begin_process() -> None:
    # Ctrl-C reaches all processes of a terminal. The first of them ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    exit_with_starter()


def _prepare_file(job: _Job, file: Path, index: int) -> Prepared:
    """Write the files of both splits. The number keeps equal names apart."""
    folding = Folding(job.marks)
    lines = _plain_lines(read_lines(file, job.table), folding)
    name = f"{index:04d}.{file.name.split('.')[0]}.txt.gz"
    outputs = {split: job.folder / f"{split}.{name}" for split in SPLITS}
    sentences = _sentences(lines, job.language, wrapped=job.wrapped)
    written = write_splits(sentences, outputs, index, job.heldout)
    if not any(split.sentences for split in written.values()):
        raise InputError("expected text, got none", file=file)
    marks = dict(folding.found)
    return Prepared(file.name, written[TRAIN], written[HELDOUT], marks)


def _plain_lines(lines: Iterable[Line], folding: Folding) -> Iterator[Line]:
    for line in lines:
        [text] = folding([line.text])
        yield line._replace(text=text)


def _sentences(
    lines: Iterable[Line], language: str | None, *, wrapped: bool
) -> Iterator[ParagraphSentence]:
    """The sentences by spaCy's rules for a language; without one, the lines."""
    if language is not None:
        split = sentence_splitter(language)
        yield from sentences_of_paragraphs(lines, split, wrapped=wrapped)
        return
    split_line = SplitAtBlanks("--language splits raw text")
    yield from sentences_of_lines(lines, split_line)
    split_line.end_of_text()
