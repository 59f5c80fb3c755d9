"""Sentences with a tag for each word: CoNLL-U, or lines of `word/tag` or `word_tag`."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text_files import not_empty, open_text

CORPUS_HINT = "UD English EWT: https://universaldependencies.org; the Penn Treebank: LDC99T42"

CONLLU = "conllu"
SEPARATORS = {"slash": "/", "underscore": "_"}
FORMATS = ("auto", CONLLU, *SEPARATORS)

_COLUMNS = 10
_ID, _FORM, _FEATURES = 0, 1, 5
_TAG_COLUMNS = {"lemma": 2, "upos": 3, "xpos": 4, "deprel": 7}
_FEATURE = "feats:"
_NONE = "_"

TAGS = (*_TAG_COLUMNS, "feats:NAME")
"""What the tags of a CoNLL-U file can be; `feats:Case` is the feature `Case`."""

_ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


class TaggedSentence(NamedTuple):
    """At least one word, and a tag for each."""

    words: list[str]
    tags: list[str]


def unescape(word: str) -> str:
    """The text of a treebank's word: brackets, and slashes and asterisks without their backslash."""
    return _ESCAPES.get(word) or word.replace("\\/", "/").replace("\\*", "*")


def read_tagged(file: str | Path, *, form: str = "auto", tag: str = "xpos") -> Iterator[TaggedSentence]:
    """
    The sentences of a file, read lazily. `form` is `conllu` (ten columns, of which FORM and the tag are used; multiword
    tokens and empty nodes are skipped), `slash` or `underscore` (`word/tag` or `word_tag`, with the Penn Treebank's
    escapes), or `auto`, by the first line. `tag` is the tag in CoNLL-U, one of `TAGS`; a word without the feature has
    the tag `_`.

    Raises `InputError` with the line, if it has another format or a word has no tag; if there is no sentence.
    """
    if tag not in _TAG_COLUMNS and not tag.startswith(_FEATURE):
        raise InputError(f"expected tag to be one of {', '.join(TAGS)}, got {tag!r}")
    if form not in FORMATS:
        raise InputError(f"expected format to be one of {', '.join(FORMATS)}, got {form!r}")
    form = _detect(file) if form == "auto" else form
    sentences = _read_conllu(file, tag) if form == CONLLU else _read_lines(file, SEPARATORS[form])
    yield from not_empty(sentences, f"no sentence found in the format {form}", file)


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
        raise InputError(problem, file=file, line=number)
    raise InputError("no sentence found", file=file)


def _read_lines(file: str | Path, separator: str) -> Iterator[TaggedSentence]:
    for number, line in open_text(file, corpus_hint=CORPUS_HINT):
        pairs = [pair.rpartition(separator) for pair in line.split()]
        wrong = next(("".join(pair) for pair in pairs if not all(pair)), None)
        if wrong is not None:
            raise InputError(f"expected word{separator}tag, got {wrong!r}", file=file, line=number)
        if pairs:
            yield TaggedSentence([unescape(word) for word, _, _ in pairs], [tag for _, _, tag in pairs])


def _read_conllu(file: str | Path, tag: str) -> Iterator[TaggedSentence]:
    sentence = TaggedSentence([], [])
    for number, line in open_text(file, corpus_hint=CORPUS_HINT):
        if line.startswith("#"):
            continue
        if line.strip():
            _add_row(sentence, line.split("\t"), tag, file, number)
        elif sentence.words:
            yield sentence
            sentence = TaggedSentence([], [])
    if sentence.words:
        yield sentence


def _add_row(sentence: TaggedSentence, columns: list[str], tag: str, file: str | Path, number: int) -> None:
    if len(columns) != _COLUMNS:
        problem = f"expected {_COLUMNS} columns separated by tabs, got {len(columns)}"
        raise InputError(problem, file=file, line=number)
    index, word = columns[_ID], columns[_FORM]
    if any(separator in index and index.replace(separator, "", 1).isdecimal() for separator in "-."):
        return
    if index != str(len(sentence.words) + 1):
        raise InputError(f"expected ID {len(sentence.words) + 1}, got {index!r}", file=file, line=number)
    found = _tag(columns, tag)
    if not word.strip() or not found or (found == _NONE and tag in _TAG_COLUMNS):
        raise InputError(f"expected a word and its {tag}, got {word!r} and {found!r}", file=file, line=number)
    sentence.words.append(word)
    sentence.tags.append(found)


def _tag(columns: list[str], tag: str) -> str:
    if tag in _TAG_COLUMNS:
        return columns[_TAG_COLUMNS[tag]]
    features = dict(feature.partition("=")[::2] for feature in columns[_FEATURES].split("|"))
    return features.get(tag.removeprefix(_FEATURE), _NONE)
