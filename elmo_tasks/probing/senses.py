"""Word-sense corpora in the XML of Raganato et al. (2017), their gold keys, and WordNet's `index.sense`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn
from xml.parsers import expat

from elmo_tasks.data.files import open_text
from elmo_tasks.errors import InputError

CORPUS_HINT = "SemCor and the evaluation sets: http://lcl.uniroma1.it/wsdeval/"
INDEX_HINT = "index.sense lies in the folder dict of WordNet"

DATA_SUFFIX, KEY_SUFFIX = ".data.xml", ".gold.key.txt"

POS_OF_TYPE = {"1": "NOUN", "2": "VERB", "3": "ADJ", "4": "ADV", "5": "ADJ"}
"""The corpora's parts of speech by the number in a sense key; 5 are satellite adjectives."""

_SENSE_KEY = re.compile(r"([^\s%]+)%([1-5]):\d+:\d+:\S*:\S*")
_PARENTS = {"corpus": "", "text": "corpus", "sentence": "text", "wf": "sentence", "instance": "sentence"}
_ATTRIBUTES = ("id", "lemma", "pos")


class Target(NamedTuple):
    """
    A word, or several that make one lemma, whose sense is asked for.

    # Parameters

    id : `str`
        Unique in its corpus.
    lemma : `str`
        In lower case, `_` between its words.
    pos : `str`
        `NOUN`, `VERB`, `ADJ` or `ADV`.
    start, end : `int`
        Its tokens in the sentence, the end not included.
    line : `int`
        Where it stands in the file.
    """

    id: str
    lemma: str
    pos: str
    start: int
    end: int
    line: int


class SenseSentence(NamedTuple):
    """
    # Parameters

    words : `list[str]`
        The text of its elements, cut at white space: `primary election` is two tokens.
    targets : `list[Target]`
    """

    words: list[str]
    targets: list[Target]


def key_file_of(data_file: str | Path) -> Path:
    """
    `x.data.xml` -> `x.gold.key.txt` beside it.

    # Raises

    `InputError`
        If the file has another name.
    """
    path = Path(data_file)
    if not path.name.endswith(DATA_SUFFIX):
        raise InputError(f"a file named NAME{DATA_SUFFIX} was wanted, beside its NAME{KEY_SUFFIX}", file=path)
    return path.with_name(path.name.removesuffix(DATA_SUFFIX) + KEY_SUFFIX)


def read_senses(file: str | Path) -> Iterator[SenseSentence]:
    """
    Streams the sentences of a corpus; memory does not grow with it.

    # Raises

    `InputError`
        At its line: whatever `open_text` raises, XML that is not well formed, a document type definition, an element
        out of its place, a target without id, lemma, part of speech or text, an id that came before; at the end, if
        there is no sentence.
    """
    handler = _Handler(file)
    for _, line in open_text(file, corpus_hint=CORPUS_HINT, longest=None):
        handler.feed(f"{line}\n")
        yield from handler.take()
    handler.feed("", last=True)
    yield from handler.take()
    if not handler.found:
        raise InputError("no sentence found: <corpus><text><sentence> was wanted", file=file)


class _Handler:
    """Expat's callbacks, which know the line they are at."""

    def __init__(self, file: str | Path) -> None:
        self._file = file
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._open: list[str] = []
        self._target: tuple[str, str, str] | None = None
        self._characters: list[str] = []
        self._sentence = SenseSentence([], [])
        self._ready: list[SenseSentence] = []
        self._ids: set[str] = set()
        self.found = 0

    def feed(self, text: str, *, last: bool = False) -> None:
        try:
            self._parser.Parse(text, last)
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code)
            raise InputError(f"this is no well-formed XML: {what}", file=self._file, line=error.lineno) from None

    def take(self) -> list[SenseSentence]:
        """The sentences that ended since the last call."""
        ready, self._ready = self._ready, []
        self.found += len(ready)
        return ready

    def _doctype(self, *_: object) -> None:
        self._refuse("no document type definition was wanted, found one", hint="remove it")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        parent = self._open[-1] if self._open else ""
        if _PARENTS.get(name) != parent:
            wanted = ", ".join(child for child, above in _PARENTS.items() if above == parent) or "no element"
            self._refuse(f"{wanted} was wanted in {parent or 'the file'}, found <{name}>")
        self._open.append(name)
        if name == "sentence":
            self._sentence = SenseSentence([], [])
        elif name == "instance":
            self._target = self._checked(attributes)
        self._characters = []

    def _end(self, name: str) -> None:
        self._open.pop()
        if name == "sentence":
            if not self._sentence.words:
                self._refuse("a sentence of one word or more was wanted, found an empty one")
            self._ready.append(self._sentence)
        elif name in ("wf", "instance"):
            self._add_words("".join(self._characters).split())
        self._characters = []

    def _text(self, text: str) -> None:
        if self._open[-1] in ("wf", "instance"):
            self._characters.append(text)
        elif text.strip():
            self._refuse(f"<wf> or <instance> was wanted around every word, found {text.strip()[:40]!r} outside")

    def _add_words(self, words: list[str]) -> None:
        start, line = len(self._sentence.words), self._parser.CurrentLineNumber
        if not words:
            self._refuse("an element that holds a word was wanted, found an empty one")
        self._sentence.words.extend(words)
        if self._target is not None:
            self._sentence.targets.append(Target(*self._target, start, start + len(words), line))
            self._target = None

    def _checked(self, attributes: dict[str, str]) -> tuple[str, str, str]:
        missing = [name for name in _ATTRIBUTES if not attributes.get(name)]
        if missing:
            self._refuse(f"an instance with id, lemma and pos was wanted, found none of: {', '.join(missing)}")
        name, lemma, pos = (attributes[name] for name in _ATTRIBUTES)
        if pos not in POS_OF_TYPE.values():
            self._refuse(f"the pos of an instance must be NOUN, VERB, ADJ or ADV, found {pos!r}")
        if name in self._ids:
            self._refuse(f"every instance must have an id of its own, {name!r} came before")
        self._ids.add(name)
        return name, lemma.lower(), pos

    def _refuse(self, problem: str, *, hint: str | None = None) -> NoReturn:
        raise InputError(problem, file=self._file, line=self._parser.CurrentLineNumber, hint=hint)


def read_keys(file: str | Path) -> dict[str, tuple[str, ...]]:
    """
    The sense keys of each instance: an id and one key or more a line, blanks between them.

    # Raises

    `InputError`
        At its line: whatever `open_text` raises, a line without key, a key that is none, an id that came before.
    """
    keys: dict[str, tuple[str, ...]] = {}
    for number, line in open_text(file, corpus_hint=CORPUS_HINT):
        fields = line.split()
        if not fields:
            continue
        name, *senses = fields
        wrong = next((sense for sense in senses if not _SENSE_KEY.fullmatch(sense)), None)
        if not senses or wrong is not None:
            found = "none" if wrong is None else repr(wrong)
            problem = f"an id and sense keys such as play%1:10:01:: were wanted, found {found}"
            raise InputError(problem, file=file, line=number)
        if name in keys:
            raise InputError(f"the keys of {name!r} came before", file=file, line=number)
        keys[name] = tuple(dict.fromkeys(senses))
    return keys


def read_first_senses(file: str | Path) -> dict[tuple[str, str], str]:
    """
    The sense key that WordNet ranks first, by lemma and part of speech. Where several share the first rank, the one
    that comes first in the file.

    # Parameters

    file : `str` or `Path`
        `index.sense`: sense key, synset offset, rank and count a line.

    # Raises

    `InputError`
        At its line: whatever `open_text` raises, or a line of another form; at the end, if there is none.
    """
    ranked: dict[tuple[str, str], tuple[int, str]] = {}
    for number, line in open_text(file, corpus_hint=INDEX_HINT):
        fields = line.split()
        match = _SENSE_KEY.fullmatch(fields[0]) if len(fields) == 4 else None
        if match is None or not fields[2].isdecimal():
            problem = f"sense key, offset, rank and count were wanted, found {line[:60]!r}"
            raise InputError(problem, file=file, line=number, hint=INDEX_HINT)
        word, rank = (match[1].lower(), POS_OF_TYPE[match[2]]), int(fields[2])
        if word not in ranked or rank < ranked[word][0]:
            ranked[word] = rank, fields[0]
    if not ranked:
        raise InputError("no sense found", file=file, hint=INDEX_HINT)
    return {word: key for word, (_, key) in ranked.items()}
