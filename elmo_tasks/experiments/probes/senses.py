"""Word-sense corpora in the XML of Raganato et al. (2017), their gold keys, and WordNet's `index.sense`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text_files import not_empty, open_text

CORPUS_HINT = "SemCor and the evaluation sets: http://lcl.uniroma1.it/wsdeval/"
INDEX_HINT = "index.sense is in the folder dict of WordNet"

DATA_SUFFIX, KEY_SUFFIX = ".data.xml", ".gold.key.txt"

POS_OF_TYPE = {"1": "NOUN", "2": "VERB", "3": "ADJ", "4": "ADV", "5": "ADJ"}
"""The corpora's parts of speech by the number in a sense key; 5 are satellite adjectives."""

_SENSE_KEY = re.compile(r"([^\s%]+)%([1-5]):\d+:\d+:\S*:\S*")
_PARENTS = {"corpus": "", "text": "corpus", "sentence": "text", "wf": "sentence", "instance": "sentence"}


class Target(NamedTuple):
    """A word or multiword expression whose sense is annotated."""

    id: str  # unique in its corpus
    lemma: str  # in lower case, with `_` between its words
    pos: str  # `NOUN`, `VERB`, `ADJ` or `ADV`
    start: int  # its first token in the sentence
    end: int  # exclusive
    line: int  # in the file


class SenseSentence(NamedTuple):
    """The text of its elements, split at white space (`primary election` is two tokens), and its targets."""

    words: list[str]
    targets: list[Target]


def key_file_of(data_file: str | Path) -> Path:
    """`x.data.xml` -> `x.gold.key.txt` in the same folder. Raises `InputError` for another name."""
    path = Path(data_file)
    if not path.name.endswith(DATA_SUFFIX):
        raise InputError(f"expected a file named NAME{DATA_SUFFIX} with NAME{KEY_SUFFIX} in its folder", file=path)
    return path.with_name(path.name.removesuffix(DATA_SUFFIX) + KEY_SUFFIX)


def read_senses(file: str | Path) -> Iterator[SenseSentence]:
    """
    The sentences of a corpus, read lazily: memory does not grow with the file.

    Raises `InputError` with the line, if the XML is malformed or has a document type definition or an unexpected
    element, if a target has no id, lemma, part of speech or text, or if its id is not unique; if there is no sentence.
    """
    yield from not_empty(_Reader(file).sentences(), "no sentence found, expected <corpus><text><sentence>", file)


class _Reader:
    def __init__(self, file: str | Path) -> None:
        self._file = file
        self._line = 0
        self._open: list[Element] = []
        self._sentence = SenseSentence([], [])
        self._ids: set[str] = set()

    def sentences(self) -> Iterator[SenseSentence]:
        parser: Any = XMLPullParser(["start", "end"])
        try:
            for line, text in open_text(self._file, corpus_hint=CORPUS_HINT, longest=None):
                self._line = line
                if "<!DOCTYPE" in text:
                    self._fail("expected no document type definition, got one")
                parser.feed(f"{text}\n")
                yield from self._finished(parser)
            parser.close()
            yield from self._finished(parser)
        except ParseError as error:
            raise InputError(f"malformed XML: {error}", file=self._file, line=error.position[0]) from None

    def _finished(self, parser: Any) -> Iterator[SenseSentence]:
        """The sentences that end in what was fed to the parser."""
        for event, element in parser.read_events():
            if event == "start":
                self._start(element)
                continue
            self._open.pop()
            if element.tag in ("wf", "instance"):
                self._add_words(element)
            elif element.tag == "sentence":
                self._check_sentence(element)
                self._open[-1].clear()  # to free memory
                yield self._sentence

    def _start(self, element: Element) -> None:
        parent = self._open[-1].tag if self._open else ""
        if _PARENTS.get(element.tag) != parent:
            expected = ", ".join(child for child, above in _PARENTS.items() if above == parent) or "no element"
            self._fail(f"expected {expected} in {parent or 'the file'}, got <{element.tag}>")
        self._open.append(element)
        if element.tag == "sentence":
            self._sentence = SenseSentence([], [])

    def _add_words(self, element: Element) -> None:
        words = (element.text or "").split()
        if not words:
            self._fail(f"expected a word in <{element.tag}>, got none")
        start = len(self._sentence.words)
        self._sentence.words.extend(words)
        if element.tag == "instance":
            attributes = self._checked(element)
            self._sentence.targets.append(Target(*attributes, start, start + len(words), self._line))

    def _checked(self, element: Element) -> tuple[str, str, str]:
        name, lemma, pos = (element.get(key) for key in ("id", "lemma", "pos"))
        if not name or not lemma or not pos:
            self._fail(f"expected an instance with id, lemma and pos, got {element.attrib}")
        if pos not in POS_OF_TYPE.values():
            self._fail(f"expected pos to be NOUN, VERB, ADJ or ADV, got {pos!r}")
        if name in self._ids:
            self._fail(f"expected unique ids, got {name!r} again")
        self._ids.add(name)
        return name, lemma.lower(), pos

    def _check_sentence(self, sentence: Element) -> None:
        if not self._sentence.words:
            self._fail("expected a word in the sentence, got none")
        for text in (sentence.text, *(child.tail for child in sentence)):
            if text and text.strip():
                self._fail(f"expected <wf> or <instance> around every word, got {text.strip()[:40]!r}")

    def _fail(self, problem: str) -> NoReturn:
        raise InputError(problem, file=self._file, line=self._line)


def read_keys(file: str | Path) -> dict[str, tuple[str, ...]]:
    """
    The sense keys of each instance, from lines with an id and one or more keys.

    Raises `InputError` with the line, if it has no key or an invalid one, or if its id is not unique.
    """
    keys: dict[str, tuple[str, ...]] = {}
    for number, line in open_text(file, corpus_hint=CORPUS_HINT):
        name, *senses = line.split() or [""]
        if not name:
            continue
        if not senses or not all(map(_SENSE_KEY.fullmatch, senses)):
            problem = f"expected an id and sense keys such as play%1:10:01::, got {line[:60]!r}"
            raise InputError(problem, file=file, line=number)
        if name in keys:
            raise InputError(f"expected unique ids, got {name!r} again", file=file, line=number)
        keys[name] = tuple(dict.fromkeys(senses))
    return keys


def read_first_senses(file: str | Path) -> dict[tuple[str, str], str]:
    """
    The sense key that WordNet ranks first, by lemma and part of speech, from the lines of `index.sense`: sense key,
    synset offset, rank and count. Of equal ranks, the first in the file.

    Raises `InputError` with the line, if it has another form; if there is none.
    """
    ranked: dict[tuple[str, str], tuple[int, str]] = {}
    for number, line in open_text(file, corpus_hint=INDEX_HINT):
        fields = line.split()
        match = _SENSE_KEY.fullmatch(fields[0]) if len(fields) == 4 else None
        if match is None or not fields[2].isdecimal():
            problem = f"expected sense key, offset, rank and count, got {line[:60]!r}"
            raise InputError(problem, file=file, line=number, hint=INDEX_HINT)
        word, rank = (match[1].lower(), POS_OF_TYPE[match[2]]), int(fields[2])
        if word not in ranked or rank < ranked[word][0]:
            ranked[word] = rank, fields[0]
    if not ranked:
        raise InputError("no sense found", file=file, hint=INDEX_HINT)
    return {word: key for word, (_, key) in ranked.items()}
