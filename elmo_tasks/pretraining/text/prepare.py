"""
Corpora in common formats -> the text that a biLM is trained on: a sentence a line,
words between blanks.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from gzip import GzipFile
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, Optional

from pydantic import SkipValidation

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.marks import Folding, Marks
from elmo_tasks.formats.text.raw_text import SplitAtBlanks, sentence_pipeline
from elmo_tasks.formats.text.tables import read_table, table_kind
from elmo_tasks.formats.text.text_files import open_text
from elmo_tasks.option_values import HeldOut, Quoting
from elmo_tasks.pretraining.text.sentences import expand_files
from elmo_tasks.settings import PathLike, checked
from elmo_tasks.system.files import atomic_write, new_folder

logger = logging.getLogger(__name__)

TRAIN, HELDOUT = "train", "heldout"

BLOCK = 20
"""
Consecutive paragraphs that go to the same split, so that held-out text has few
neighbours in the training text.
"""

_PARAGRAPH = 1000
"""Characters after which a paragraph counts as another one, at the next sentence."""

Sentence = tuple[int, list[str]]
"""The number of a sentence's paragraph, from 0, and its words."""


class Prepared(NamedTuple):
    """How many sentences and words of a file are in a split."""

    file: str
    split: str
    sentences: int
    words: int


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
    model: Optional[PathLike] = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Prepared]:
    """
    Write `train.NUMBER.NAME.txt.gz` and `heldout.NUMBER.NAME.txt.gz` for each file into
    a new folder, which appears when the text is complete. Equal files give equal bytes.

    # Parameters

    - `inputs`: paths and globs of text, plain, gzip or zstd, and of tables.
    - `language`: code of the spaCy rules that split raw text into sentences and words.
      Default: the text has a sentence a line, and blanks between words.
    - `wrapped`: sentences of raw text go on in the next line, and blank lines separate
      paragraphs. Default: each line is a paragraph.
    - `text_field`: the column of the text in tables; `separator`, `quoting`: as in
      `read_table`.
    - `heldout`: one block of `BLOCK` paragraphs in so many is held out; 0 for none. A
      long paragraph counts as one for every 1,000 characters.
    - `model`: the language model that the text is for, as of `load_trained`. Typographic
      marks that its vocabulary lacks are written as the plain ones that it has, and a
      warning says how many. Default: marks stay as they are.
    - `progress`: called after each file with how many are done, and how many there are.

    Returns what was written of each file. Raises `InputError` if a file is missing,
    cannot be read or has no text, or `out` exists and is not empty.
    """
    if language is not None:
        split = _sentence_splitter(language)
    elif wrapped:
        raise InputError(
            "wrapped: expected a language, whose rules find the sentences, got none",
            hint="add --language CODE; xx has rules for any language",
        )
    marks = Marks()
    if model is not None:
        from elmo_tasks.pretraining.export import load_trained  # imports torch

        marks = load_trained(model).vocabulary.marks
    folding = Folding(marks)
    files = expand_files(list(inputs))
    prepared = []
    with new_folder(Path(out)) as folder, folding.reading():
        for index, file in enumerate(files):
            texts = _texts(file, text_field, separator, quoting)
            lines = (map(folding.plain_text, text) for text in texts)
            if language is None:
                sentences = _lines_as_sentences(lines)
            else:
                sentences = _split_paragraphs(_paragraphs(lines, wrapped), split)
            read = ((number, folding(words)) for number, words in sentences)
            name = f"{index:04d}.{file.name.split('.')[0]}.txt.gz"
            prepared += _write(read, folder, name, file, index, heldout)
            if progress is not None:
                progress(index + 1, len(files))
    if heldout and HELDOUT not in [one.split for one in prepared]:
        message = "%s: nothing is held out, there are fewer than %d paragraphs"
        logger.warning(message, out, BLOCK + 1)
    return prepared


def _texts(
    file: Path, column: str, separator: str | None, quoting: Quoting
) -> Iterator[Iterable[str]]:
    """The lines of each text: those of a file of text, or of each row of a table."""
    if table_kind(file) is None:
        yield (line for _, line in open_text(file, longest=None))
        return
    for row in read_table(file, column, separator=separator, quoting=quoting):
        if not isinstance(row.text, str):
            problem = f"expected a text in {column!r}, got a list of words"
            raise InputError(problem, file=file, line=row.line)
        yield StringIO(row.text, newline=None)  # ends lines where a file of text does


def _lines_as_sentences(texts: Iterable[Iterable[str]]) -> Iterator[Sentence]:
    """The lines that have words, each a paragraph; words are between blanks."""
    split = SplitAtBlanks("--language splits raw text")
    number = 0
    for lines in texts:
        for line in lines:
            words = split(line)
            if words:
                yield number, words
                number += 1


def _paragraphs(texts: Iterable[Iterable[str]], wrapped: bool) -> Iterator[str]:
    """The lines that are not blank, those of a wrapped paragraph in one."""
    for lines in texts:
        for is_text, paragraph in groupby(map(str.strip, lines), key=bool):
            if is_text and wrapped:
                yield " ".join(paragraph)
            elif is_text:
                yield from paragraph


def _split_paragraphs(
    paragraphs: Iterable[str], split: Callable[[str], Iterator[Sentence]]
) -> Iterator[Sentence]:
    """The sentences; a long paragraph has several numbers."""
    number = -1
    for paragraph in paragraphs:
        first = number + 1
        for offset, words in split(paragraph):
            number = first + offset // _PARAGRAPH
            yield number, words


def _sentence_splitter(language: str) -> Callable[[str], Iterator[Sentence]]:
    """
    spaCy's rules for a language: the sentences of a text, with the offsets at which
    they begin.
    """
    nlp = sentence_pipeline(language)

    def split(text: str) -> Iterator[Sentence]:
        for sentence in nlp(text).sents:
            words = []
            for token in sentence:
                words += token.text.split()
            yield sentence.start_char, words

    return split


def _write(
    sentences: Iterable[Sentence],
    folder: Path,
    name: str,
    file: Path,
    index: int,
    heldout: int,
) -> list[Prepared]:
    """
    Write the sentences of a file to those of both splits, of which an empty one is not
    made.
    """
    counts: dict[str, list[int]] = {}  # of sentences and words
    outputs = {}
    with ExitStack() as stack:
        for paragraph, words in sentences:
            if not words:
                continue
            split = TRAIN
            # The index counts, so that some of many short files are held out.
            if heldout > 0 and (index + paragraph // BLOCK) % heldout == 1:
                split = HELDOUT
            if split not in outputs:
                aside = stack.enter_context(atomic_write(folder / f"{split}.{name}"))
                raw = stack.enter_context(aside.open("wb"))
                # Without a name and a time in its header.
                packed = GzipFile("", "wb", 4, raw, mtime=0)
                outputs[split] = stack.enter_context(packed)
                counts[split] = [0, 0]
            outputs[split].write(" ".join(words).encode() + b"\n")
            counts[split][0] += 1
            counts[split][1] += len(words)
    if not counts:
        raise InputError("expected text, got none", file=file)
    return [Prepared(str(file), split, *own) for split, own in counts.items()]
