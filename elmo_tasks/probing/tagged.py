"""Sentences with a part of speech for each word: CoNLL-U, or lines of `word/tag` or `word_tag`."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.data.files import open_text
from elmo_tasks.data.treebank import unescape
from elmo_tasks.errors import InputError

CORPUS_HINT = "UD English EWT: https://universaldependencies.org; the Penn Treebank: LDC99T42"

CONLLU = "conllu"
SEPARATORS = {"slash": "/", "underscore": "_"}
FORMATS = ("auto", CONLLU, *SEPARATORS)

_COLUMNS = 10
_FORM, _XPOS = 1, 4


class TaggedSentence(NamedTuple):
    """At least one word, and a tag for each."""

    words: list[str]
    tags: list[str]


def read_tagged(file: str | Path, *, form: str = "auto") -> Iterator[TaggedSentence]:
    """
    The sentences of a file, read lazily.

    # Parameters

    form : `str`
        `conllu`: ten columns, of which FORM and XPOS are used; multiword tokens and empty nodes are skipped. `slash`,
        `underscore`: `word/tag` or `word_tag`, with the Penn Treebank's escapes. `auto`: detected from the first line.

    Raises `InputError` with the line, if it has another format or a word has no tag; if there is no sentence.
    """
    if form not in FORMATS:
        raise InputError(f"expected format to be one of {', '.join(FORMATS)}, got {form!r}")
    form = _detect(file) if form == "auto" else form
    sentences = _read_conllu(file) if form == CONLLU else _read_lines(file, SEPARATORS[form])
    found = False
    for sentence in sentences:
        found = True
        yield sentence
    if not found:
        raise InputError(f"no sentence found in the format {form}", file=file)


def _detect(file: str | Path) -> str:
    for number, line in open_text(file, corpus_hint=CORPUS_HINT):
        words = line.split()
        if not words or line.startswith("# "):
            continue
        if line.count("\t") == _COLUMNS - 1:
            return CONLLU
        for form, separator in SEPARATORS.items():
            if all(all(word.rpartition(separator)) for word in words):
                return form
        problem = f"expected ten columns separated by tabs, word/tag or word_tag, got {line[:60]!r}"
        raise InputError(problem, file=file, line=number, hint="--format sets the format")
    raise InputError("no sentence found", file=file)


def _read_lines(file: str | Path, separator: str) -> Iterator[TaggedSentence]:
    for number, line in open_text(file, corpus_hint=CORPUS_HINT):
        pairs = [pair.rpartition(separator) for pair in line.split()]
        wrong = next(("".join(pair) for pair in pairs if not all(pair)), None)
        if wrong is not None:
            raise InputError(f"expected word{separator}tag, got {wrong!r}", file=file, line=number)
        if pairs:
            yield TaggedSentence([unescape(word) for word, _, _ in pairs], [tag for _, _, tag in pairs])


def _read_conllu(file: str | Path) -> Iterator[TaggedSentence]:
    sentence = TaggedSentence([], [])
    for number, line in open_text(file, corpus_hint=CORPUS_HINT):
        if line.startswith("#"):
            continue
        if line.strip():
            _add_row(sentence, line.split("\t"), file, number)
        elif sentence.words:
            yield sentence
            sentence = TaggedSentence([], [])
    if sentence.words:
        yield sentence


def _add_row(sentence: TaggedSentence, columns: list[str], file: str | Path, number: int) -> None:
    if len(columns) != _COLUMNS:
        problem = f"expected {_COLUMNS} columns separated by tabs, got {len(columns)}"
        raise InputError(problem, file=file, line=number)
    index, word, tag = columns[0], columns[_FORM], columns[_XPOS]
    if any(separator in index and index.replace(separator, "", 1).isdecimal() for separator in "-."):
        return
    if index != str(len(sentence.words) + 1):
        raise InputError(f"expected ID {len(sentence.words) + 1}, got {index!r}", file=file, line=number)
    if not word.strip() or tag in ("_", ""):
        raise InputError(
            f"expected a word and its tag in columns 2 and 5, got {word!r} and {tag!r}", file=file, line=number
        )
    sentence.words.append(word)
    sentence.tags.append(tag)
