"""Corpora in common formats -> the text that a biLM is trained on: a sentence a line, words between blanks."""

import gzip
import json
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from functools import partial
from itertools import count
from pathlib import Path
from typing import Annotated, Any

from tqdm import tqdm

from elmo_tasks.errors import InputError
from elmo_tasks.files import atomic_write
from elmo_tasks.formats.parquet import read_column
from elmo_tasks.formats.raw_text import (
    blank_pipeline,
    sentence_pipeline,
    split_at_blanks,
)
from elmo_tasks.formats.text_files import lines_of, open_binary
from elmo_tasks.pretraining.sentences import expand_files
from elmo_tasks.processes import worker_pool
from elmo_tasks.settings import Count, Size, checked

logger = logging.getLogger(__name__)

BLOCK = 20
"""Consecutive paragraphs that go to the same split, so that held-out text has few neighbours in the training text."""


def _not_all(one_in: int) -> str | None:
    return "0, or an integer of at least 2" if one_in == 1 else None


HeldOut = Annotated[Count, _not_all]
"""One in so many; 0 for none."""


_SUFFIXES = (".txt", ".jsonl", ".parquet", ".gz", ".zst")


@checked
def prepare(
    inputs: Iterable[str],
    out: str | Path,
    *,
    language: str | None = None,
    text_field: str = "text",
    heldout: HeldOut = 100,
    workers: Size = 1,
) -> None:
    """
    Write `train.NAME.txt.gz` and `heldout.NAME.txt.gz` for each file into a folder that has none of these.

    # Parameters

    - `inputs`: paths, globs and folders of text, JSON lines (`.jsonl`), both also gzip or zstd, and Parquet.
    - `language`: code of the spaCy rules that split raw text into sentences and words. Default: the text has a sentence
      a line, and blanks between words.
    - `text_field`: the text's name in JSON lines and Parquet.
    - `heldout`: one block of `BLOCK` paragraphs in so many is held out; 0 for none.
    - `workers`: the number of processes; each writes one file.

    Raises `InputError` if a file is missing, cannot be read or has no text, or `out` has been written before.
    """
    if language is not None:
        blank_pipeline(language)
    folder = Path(out)
    if any(folder.glob("train.*")):
        raise InputError(
            "the folder has files of a training text",
            file=out,
            hint="name another, or remove it",
        )
    files = list(
        {file.resolve(): file for entry in inputs for file in _files(entry)}.values()
    )
    work = partial(
        _prepare_file,
        folder=folder,
        language=language,
        text_field=text_field,
        heldout=heldout,
    )
    with worker_pool(workers) if workers > 1 else nullcontext() as pool:
        written = (map if pool is None else pool.map)(work, files, count())
        for _ in tqdm(written, total=len(files), desc="files", disable=None):
            pass
    if heldout and not any(folder.glob("heldout.*")):
        logger.warning(
            "%s: nothing is held out, there are fewer than %d paragraphs",
            out,
            BLOCK + 1,
        )


def read_documents(file: Path, text_field: str) -> Iterator[str]:
    """
    The texts of a file in one of the formats of `prepare`. Lines that are not UTF-8 or have a NUL byte are skipped with
    a warning. Raises `InputError` with the line or the field.
    """
    skipped = []
    with open_binary(file) as opened:
        if file.suffix == ".parquet":
            for number, value in read_column(opened, file, text_field):
                yield _checked(value, text_field, file, number)
            return
        for number, line in lines_of(opened, file):
            if isinstance(line, InputError):
                skipped.append(line)
            else:
                yield (
                    _json_text(line, text_field, file, number)
                    if ".jsonl" in file.suffixes
                    else line
                )
    if skipped:
        logger.warning(
            "%s: skipped lines that are no text: %d, the first is %s",
            file,
            len(skipped),
            skipped[0],
        )


def _splitter(language: str | None) -> Callable[[str], Iterator[list[str]]]:
    """A paragraph -> its sentences, as words, by spaCy's rules for a language; without one, a line is a sentence."""
    if language is None:
        words_of = split_at_blanks("--language splits raw text")
        return lambda line: iter([words_of(line)])
    nlp = sentence_pipeline(language)

    def split(text: str) -> Iterator[list[str]]:
        for sentence in nlp(text).sents:
            yield [word for token in sentence for word in token.text.split()]

    return split


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


def _prepare_file(
    file: Path,
    place: int,
    *,
    folder: Path,
    language: str | None,
    text_field: str,
    heldout: int,
) -> None:
    """Write the two files of one. The number keeps equal names apart."""
    split, sentences = _splitter(language), [0, 0]
    name = f"{place:04d}.{file.name.split('.')[0]}.txt.gz"
    outputs = folder / f"train.{name}", folder / f"heldout.{name}"
    with atomic_write(outputs[0]) as train, atomic_write(outputs[1]) as held:
        with (
            gzip.open(train, "wb", 4) as train_out,
            gzip.open(held, "wb", 4) as held_out,
        ):
            texts = read_documents(file, text_field)
            for number, paragraph in enumerate(
                part for text in texts for part in text.splitlines() if part.strip()
            ):
                is_held_out = (
                    heldout > 0 and (place + number // BLOCK) % heldout == 1
                )  # also of many short files
                for words in filter(None, split(paragraph)):
                    (held_out if is_held_out else train_out).write(
                        " ".join(words).encode() + b"\n"
                    )
                    sentences[is_held_out] += 1
        if not any(sentences):
            raise InputError("expected text, got none", file=file)
    for output, written in zip(outputs, sentences, strict=True):
        if not written:
            output.unlink()


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
