"""
Word-sense corpora in the XML of Raganato et al. (2017), their gold keys, and WordNet's
`index.sense`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.text_files import not_empty, open_text

CORPUS_HINT = "SemCor and the evaluation sets: http://lcl.uniroma1.it/wsdeval/"
INDEX_HINT = "index.sense is in the folder dict of WordNet"

DATA_SUFFIX = ".data.xml"
KEY_SUFFIX = ".gold.key.txt"

POS_OF_TYPE = {"1": "NOUN", "2": "VERB", "3": "ADJ", "4": "ADV", "5": "ADJ"}
"""
The corpora's parts of speech by the number in a sense key; 5 are satellite adjectives.
"""

_SENSE_KEY = re.compile(r"([^\s%]+)%([1-5]):\d+:\d+:\S*:\S*")
_PARENTS = {
    "corpus": "",
    "text": "corpus",
    "sentence": "text",
    "wf": "sentence",
    "instance": "sentence",
}
"""The parent of each element; that of the first one is the file."""


class Target(NamedTuple):
    """A word or multiword expression whose sense is annotated."""

    id: str  # unique in its corpus
    lemma: str  # in lower case, with `_` between its words
    pos: str  # `NOUN`, `VERB`, `ADJ` or `ADV`
    start: int  # its first token in the sentence
    end: int  # exclusive
    line: int  # in the file


class SenseSentence(NamedTuple):
    """
    The text of its elements, split at white space (`primary election` is two tokens),
    and its targets.
    """

    words: list[str]
    targets: list[Target]


def key_file_of(data_file: str | Path) -> Path:
    """
    `x.data.xml` -> `x.gold.key.txt` in the same folder. Raises `InputError` for another
    name.
    """
    path = Path(data_file)
    if not path.name.endswith(DATA_SUFFIX):
        raise InputError(
            f"expected a file named NAME{DATA_SUFFIX} "
            f"with NAME{KEY_SUFFIX} in its folder",
            file=path,
        )
    return path.with_name(path.name.removesuffix(DATA_SUFFIX) + KEY_SUFFIX)


def read_senses(file: str | Path) -> Iterator[SenseSentence]:
    """
    The sentences of a corpus, read lazily: memory does not grow with the file.

    Raises `InputError` with the line, if the XML is malformed or has a document type
    definition or an unexpected element, if a target has no id, lemma, part of speech or
    text, or if its id is not unique; if there is no sentence.
    """
    yield from not_empty(
        _sentences(file), "no sentence found, expected <corpus><text><sentence>", file
    )


def _sentences(file: str | Path) -> Iterator[SenseSentence]:
    parser = _CorpusParser(file)
    lines = open_text(file, corpus_hint=CORPUS_HINT, longest=None)
    try:
        for line, text in lines:
            yield from parser.feed(text, line)
        yield from parser.close()
    except ParseError as error:
        line, _ = error.position
        raise InputError(f"malformed XML: {error}", file=file, line=line) from None


class _CorpusParser:
    """Lines of XML -> the sentences that are complete."""

    def __init__(self, file: str | Path) -> None:
        self._file = file
        self._parser: Any = XMLPullParser(["start", "end"])
        self._open: list[Element] = []  # elements, from the outermost
        self._ids: set[str] = set()
        self._sentence = SenseSentence([], [])

    def feed(self, text: str, line: int) -> Iterator[SenseSentence]:
        if "<!DOCTYPE" in text:
            raise InputError(
                "expected no document type definition, got one",
                file=self._file,
                line=line,
            )
        self._parser.feed(f"{text}\n")
        yield from self._complete(line)

    def close(self) -> Iterator[SenseSentence]:
        self._parser.close()
        yield from self._complete(0)

    def _complete(self, line: int) -> Iterator[SenseSentence]:
        for event, element in self._parser.read_events():
            if event == "start":
                parent = self._open[-1].tag if self._open else ""
                _check_parent(element, parent, self._file, line)
                self._open.append(element)
                continue
            self._open.pop()
            if element.tag in ("wf", "instance"):
                self._add_words(element, line)
            elif element.tag == "sentence":
                self._require_no_text(element, line)
                yield self._sentence
                self._sentence = SenseSentence([], [])
                self._open[-1].clear()  # to free memory

    def _add_words(self, element: Element, line: int) -> None:
        """The words of an element, and the target if it is annotated."""
        words, targets = self._sentence
        start = len(words)
        words += (element.text or "").split()
        if element.tag == "instance":
            targets.append(self._target(element, start, len(words), line))

    def _target(self, element: Element, start: int, end: int, line: int) -> Target:
        name = element.get("id", "")
        lemma = element.get("lemma", "")
        pos = element.get("pos", "")
        is_complete = name and lemma and pos in POS_OF_TYPE.values()
        if not is_complete or start == end:
            raise InputError(
                "expected an instance with words, id, lemma and pos "
                f"(NOUN, VERB, ADJ or ADV), got {element.attrib}",
                file=self._file,
                line=line,
            )
        if name in self._ids:
            raise InputError(
                f"expected unique ids, got {name!r} again", file=self._file, line=line
            )
        self._ids.add(name)
        return Target(name, lemma.lower(), pos, start, end, line)

    def _require_no_text(self, sentence: Element, line: int) -> None:
        """Raises `InputError` if a sentence has text outside of its elements."""
        for text in [sentence.text] + [child.tail for child in sentence]:
            if text and text.strip():
                raise InputError(
                    "expected <wf> or <instance> around every word",
                    file=self._file,
                    line=line,
                )


def _check_parent(element: Element, parent: str, file: str | Path, line: int) -> None:
    """Raises `InputError` if an element is in another one than it should be."""
    if _PARENTS.get(element.tag) == parent:
        return
    children = [child for child, above in _PARENTS.items() if above == parent]
    expected = ", ".join(children) or "no element"
    raise InputError(
        f"expected {expected} in {parent or 'the file'}, got <{element.tag}>",
        file=file,
        line=line,
    )


def read_keys(file: str | Path) -> dict[str, tuple[str, ...]]:
    """
    The sense keys of each instance, from lines with an id and one or more keys.

    Raises `InputError` with the line, if it has no key or an invalid one, or if its id
    is not unique.
    """
    keys: dict[str, tuple[str, ...]] = {}
    for number, line in open_text(file, corpus_hint=CORPUS_HINT):
        words = line.split()
        if not words:
            continue
        name = words[0]
        senses = words[1:]
        if not senses or not all(map(_SENSE_KEY.fullmatch, senses)):
            raise InputError(
                "expected an id and sense keys such as play%1:10:01::, "
                f"got {line[:60]!r}",
                file=file,
                line=number,
            )
        if name in keys:
            raise InputError(
                f"expected unique ids, got {name!r} again", file=file, line=number
            )
        keys[name] = tuple(dict.fromkeys(senses))
    return keys


def read_first_senses(file: str | Path) -> dict[tuple[str, str], str]:
    """
    The sense key that WordNet ranks first, by lemma and part of speech, from the lines
    of `index.sense`: sense key, synset offset, rank and count. Of equal ranks, the
    first in the file.

    Raises `InputError` with the line, if it has another form; if there is none.
    """
    ranked: dict[tuple[str, str], tuple[int, str]] = {}
    for number, line in open_text(file, corpus_hint=INDEX_HINT):
        fields = line.split()
        if not fields:
            continue
        match = None
        if len(fields) == 4:
            match = _SENSE_KEY.fullmatch(fields[0])
        if match is None or not fields[2].isdecimal():
            problem = f"expected sense key, offset, rank and count, got {line[:60]!r}"
            raise InputError(problem, file=file, line=number, hint=INDEX_HINT)
        word = (match[1].lower(), POS_OF_TYPE[match[2]])
        rank = int(fields[2])
        if word not in ranked or rank < ranked[word][0]:
            ranked[word] = (rank, fields[0])
    if not ranked:
        raise InputError("no sense found", file=file, hint=INDEX_HINT)
    return {word: key for word, (_, key) in ranked.items()}
