"""
Corpora in common formats -> the text that a biLM is trained on: a sentence a line,
words between blanks.

The steps are those of `_prepare_file`: the lines of a file (`raw_files.py`), its
paragraphs and their sentences (`paragraphs.py`), and the files of both splits
(`splits.py`) in the folder of the text (`text_folder.py`).
"""

import logging
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Optional

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.marks import Folding, Marks
from elmo_tasks.formats.text.raw_text import blank_pipeline, split_at_blanks
from elmo_tasks.option_values import BLANK, HeldOut, Paragraphs
from elmo_tasks.pretraining.text.paragraphs import (
    Line,
    ParagraphSentence,
    find_paragraphs,
    sentence_splitter,
    sentences_of_lines,
    sentences_of_paragraphs,
)
from elmo_tasks.pretraining.text.raw_files import input_files, read_lines
from elmo_tasks.pretraining.text.splits import BLOCK, write_splits
from elmo_tasks.pretraining.text.text_folder import Prepared, TextFolder, sha256_of
from elmo_tasks.settings import PathLike, Size, checked
from elmo_tasks.system.processes import exit_with_starter

logger = logging.getLogger(__name__)

FORMAT = 1
"""Increased when the same input gives another text."""


@dataclass(frozen=True, kw_only=True)
class _Job:
    """What all files have in common; see `prepare`."""

    folder: TextFolder
    language: str | None
    paragraphs: str | None
    text_field: str
    heldout: int
    marks: Marks  # that the vocabulary lacks for which the text is

    def settings(self, files: list[Path]) -> dict[str, Any]:
        """
        All that the text depends on but the contents of the files, which are compared
        by their SHA-256.
        """
        names = "\0".join([file.name for file in files])
        rules = None
        if self.language is not None:
            rules = f"spaCy {version('spacy')}"
        return {
            "format": FORMAT,
            "language": self.language,
            "rules": rules,
            "paragraphs": self.paragraphs,
            "text_field": self.text_field,
            "heldout": self.heldout,
            "marks": self.marks.readings() or None,
            "files": len(files),
            "names_sha256": sha256(os.fsencode(names)).hexdigest(),
        }


@checked
def prepare(
    inputs: Iterable[str],
    out: PathLike,
    *,
    language: str | None = None,
    paragraphs: Paragraphs | None = None,
    text_field: str = "text",
    heldout: HeldOut = 100,
    workers: Size = 1,
    model: Optional[PathLike] = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Prepared]:
    """
    Write `train.NAME.txt.gz` and `heldout.NAME.txt.gz` for each file into a folder that
    has none of these, or continue an interrupted call with the same arguments, whose
    finished files are kept. The bytes do not depend on interruptions. `_prepare.json`
    is written first and `_SUCCESS` last: trainings reject the text in between.

    # Parameters

    - `inputs`: paths, globs and folders of text, JSON lines (`.jsonl`), both also gzip
      or zstd, and Parquet.
    - `language`: code of the spaCy rules that split raw text into sentences and words.
      Default: the text has a sentence a line, and blanks between words.
    - `paragraphs`: of raw text: a `line`, or what is between `blank` lines, so that a
      sentence may go on in the next line. Default: decided for each file, see
      `find_paragraphs`.
    - `text_field`: the text's name in JSON lines and Parquet.
    - `heldout`: one block of `BLOCK` paragraphs in so many is held out; 0 for none. A
      long paragraph counts as one for every `PARAGRAPH` characters.
    - `workers`: the number of processes; each writes one file.
    - `model`: the language model that the text is for, as of `load_trained`. Typographic
      marks that its vocabulary lacks are written as the plain ones that it has, and a
      warning says how many. Default: marks stay as they are.
    - `progress`: called after each file with how many are done, and how many there are.

    Returns what became of each file. Raises `InputError` if a file is missing, cannot
    be read or has no text, `out` has been written before, or the arguments or files
    differ from those of the interrupted call.
    """
    if language is not None:
        blank_pipeline(language)
    elif paragraphs == BLANK:
        raise InputError(
            "paragraphs: expected a language, whose rules find the sentences, got none",
            hint="add --language CODE; xx has rules for any language",
        )
    folder = TextFolder(Path(out))
    marks = Marks()
    if model is not None:
        from elmo_tasks.pretraining.export import load_trained  # imports torch

        marks = load_trained(model).vocabulary.marks
    job = _Job(
        folder=folder,
        language=language,
        paragraphs=paragraphs,
        text_field=text_field,
        heldout=heldout,
        marks=marks,
    )
    files = _files_outside(folder.path, inputs)
    folder.begin(job.settings(files))
    try:
        prepared = _prepare_files(job, files, workers, progress)
    except InputError:
        folder.withdraw()
        raise
    if heldout and not folder.has_heldout():
        logger.warning(
            "%s: nothing is held out, there are fewer than %d paragraphs",
            out,
            BLOCK + 1,
        )
    folding = Folding(marks)
    with folding.reading():
        for one in prepared:
            folding.found.update(one.marks)
    folder.complete(prepared)
    return prepared


def _files_outside(folder: Path, inputs: Iterable[str]) -> list[Path]:
    """
    The files that are read, but for those of an output folder that is below an input.
    """
    output = folder.resolve()
    found = {}
    for entry in inputs:
        is_output = Path(entry).resolve().is_relative_to(output)
        for file in input_files(entry):
            if output not in file.resolve().parents:
                found[file.resolve()] = file
            elif is_output:
                raise InputError(
                    "expected the text in another folder than the input",
                    file=file,
                )
    if not found:
        raise InputError("expected input outside the output folder", file=folder)
    return list(found.values())


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
            hint = "repeat the command with fewer --workers; finished files are kept"
            raise InputError(problem, hint=hint) from None


def _begin_process() -> None:
    # Ctrl-C reaches all processes of a terminal. The first of them ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    exit_with_starter()


def _prepare_file(job: _Job, file: Path, index: int) -> Prepared:
    """Write the files of both splits, unless an earlier call has."""
    finished = job.folder.finished(file, index)
    if finished is not None:
        return finished
    paragraphs = _paragraphs_of(job, file)
    folding = Folding(job.marks)
    lines = read_lines(file, job.text_field, report=True)
    documents = _Documents(_plain_lines(lines, folding))
    sentences = _sentences(documents, job.language, paragraphs)
    outputs = job.folder.outputs(file, index)
    written = write_splits(sentences, outputs, index, job.heldout)
    if not any(split.sentences for split in written.values()):
        raise InputError("expected text, got none", file=file)
    prepared = Prepared(
        file=file.name,
        sha256=sha256_of(file),
        documents=documents.count,
        paragraphs=paragraphs,
        **written,
        marks=dict(folding.found),
    )
    job.folder.write_finished(prepared, index)
    return prepared


def _paragraphs_of(job: _Job, file: Path) -> str | None:
    """What the paragraphs of a raw text are: as given, or as found in the file."""
    if job.language is None:
        return None
    if job.paragraphs is not None:
        return job.paragraphs
    lines = read_lines(file, job.text_field)
    return find_paragraphs(_plain_lines(lines, Folding(job.marks)))


def _plain_lines(lines: Iterable[Line], folding: Folding) -> Iterator[Line]:
    for line in lines:
        [text] = folding([line.text])
        yield line._replace(text=text)


class _Documents:
    """Lines, and the number of their documents that are not blank."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._last = -1  # the last document that counts
        self.count = 0

    def __iter__(self) -> Iterator[Line]:
        for line in self._lines:
            if line.document != self._last and line.text.strip():
                self.count += 1
                self._last = line.document
            yield line


def _sentences(
    lines: Iterable[Line], language: str | None, paragraphs: str | None
) -> Iterator[ParagraphSentence]:
    """The sentences by spaCy's rules for a language; without one, the lines."""
    if language is not None and paragraphs is not None:
        split = sentence_splitter(language)
        yield from sentences_of_paragraphs(lines, paragraphs, split)
        return
    split_line = split_at_blanks("--language splits raw text")
    yield from sentences_of_lines(lines, split_line)
    split_line.end_of_text()
