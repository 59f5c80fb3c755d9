"""Sentences with a part of speech for each word: CoNLL-U, or a sentence a line of `word/tag` or `word_tag`."""

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
    """
    # Parameters

    words, tags : `list[str]`
        T each, T at least 1.
    """

    words: list[str]
    tags: list[str]


def read_tagged(file: str | Path, *, form: str = "auto") -> Iterator[TaggedSentence]:
    """
    Streams the sentences of a file.

    # Parameters

    form : `str`
        `conllu`: ten columns, of which FORM and XPOS count; words that stand for several, and empty nodes, do not.
        `slash`, `underscore`: `word/tag` or `word_tag`, with brackets and slashes as the Penn Treebank escapes them.
        `auto`: what the first line with a word looks like.

    # Raises

    `InputError`
        At its line: whatever `open_text` raises, a line of another form, a word without tag; at the end, if there is
        no sentence.
    """
    if form not in FORMATS:
        raise InputError(f"format must be one of {', '.join(FORMATS)}, found {form!r}")
    known = _look_at(file) if form == "auto" else form
    sentences = _read_conllu(file) if known == CONLLU else _read_lines(file, SEPARATORS[known])
    found = False
    for sentence in sentences:
        found = True
        yield sentence
    if not found:
        raise InputError(f"no sentence found in the format {known}", file=file)


def _look_at(file: str | Path) -> str:
    for number, line in open_text(file, corpus_hint=CORPUS_HINT):
        words = line.split()
        if not words or line.startswith("# "):
            continue
        if line.count("\t") == _COLUMNS - 1:
            return CONLLU
        for form, separator in SEPARATORS.items():
            if all(_is_pair(word, separator) for word in words):
                return form
        wanted = "ten columns with tabs between them, or word/tag or word_tag all along"
        raise InputError(
            f"{wanted}, was wanted, found {line[:60]!r}", file=file, line=number, hint="--format says which it is"
        )
    raise InputError("a sentence or more was wanted, found none", file=file)


def _is_pair(text: str, separator: str) -> bool:
    word, found, tag = text.rpartition(separator)
    return bool(word and found and tag)


def _read_lines(file: str | Path, separator: str) -> Iterator[TaggedSentence]:
    for number, line in open_text(file, corpus_hint=CORPUS_HINT):
        pairs = line.split()
        wrong = next((pair for pair in pairs if not _is_pair(pair, separator)), None)
        if wrong is not None:
            raise InputError(f"word{separator}tag was wanted, found {wrong!r}", file=file, line=number)
        split = [pair.rpartition(separator) for pair in pairs]
        if split:
            yield TaggedSentence([unescape(word) for word, _, _ in split], [tag for _, _, tag in split])


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
        problem = f"{_COLUMNS} columns with tabs between them were wanted, found {len(columns)}"
        raise InputError(problem, file=file, line=number)
    place = columns[0]
    if place.replace("-", "", 1).isdecimal() and "-" in place or place.replace(".", "", 1).isdecimal() and "." in place:
        return
    wanted = len(sentence.words) + 1
    if place != str(wanted):
        raise InputError(f"word {wanted} of the sentence was wanted, found ID {place!r}", file=file, line=number)
    if not columns[_FORM].strip() or columns[_XPOS] in ("_", ""):
        problem = f"a word and its tag in columns 2 and 5 were wanted, found {columns[_FORM]!r} and {columns[_XPOS]!r}"
        raise InputError(problem, file=file, line=number)
    sentence.words.append(columns[_FORM])
    sentence.tags.append(columns[_XPOS])
