"""Word-sense corpora in the XML of Raganato et al. (2017), their gold keys, and WordNet's `index.sense`."""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text_files import not_empty, open_text

CORPUS_HINT = "SemCor and the evaluation sets: http://lcl.uniroma1.it/wsdeval/"
INDEX_HINT = "index.sense is in the folder dict of WordNet"

DATA_SUFFIX, KEY_SUFFIX = ".data.xml", ".gold.key.txt"

POS_OF_TYPE = {"1": "NOUN", "2": "VERB", "3": "ADJ", "4": "ADV", "5": "ADJ"}
"""The corpora's parts of speech by the number in a sense key; 5 are satellite adjectives."""

_SENSE_KEY = re.compile(r"([^\s%]+)%([1-5]):\d+:\d+:\S*:\S*")
_PARENTS = {
    "corpus": "",
    "text": "corpus",
    "sentence": "text",
    "wf": "sentence",
    "instance": "sentence",
}


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
        raise InputError(
            f"expected a file named NAME{DATA_SUFFIX} with NAME{KEY_SUFFIX} in its folder",
            file=path,
        )
    return path.with_name(path.name.removesuffix(DATA_SUFFIX) + KEY_SUFFIX)


def read_senses(file: str | Path) -> Iterator[SenseSentence]:
    """
    The sentences of a corpus, read lazily: memory does not grow with the file.

    Raises `InputError` with the line, if the XML is malformed or has a document type definition or an unexpected
    element, if a target has no id, lemma, part of speech or text, or if its id is not unique; if there is no sentence.
    """
    yield from not_empty(
        _sentences(file), "no sentence found, expected <corpus><text><sentence>", file
    )


def _sentences(file: str | Path) -> Iterator[SenseSentence]:
    parser: Any = XMLPullParser(["start", "end"])
    open_elements, ids, sentence = list[Element](), set[str](), SenseSentence([], [])
    lines = open_text(file, corpus_hint=CORPUS_HINT, longest=None)
    try:
        for line, text in chain(lines, [(0, "")]):
            if "<!DOCTYPE" in text:
                raise InputError(
                    "expected no document type definition, got one",
                    file=file,
                    line=line,
                )
            parser.feed(f"{text}\n") if line else parser.close()
            for event, element in parser.read_events():
                if event == "start":
                    _check_parent(
                        element,
                        open_elements[-1].tag if open_elements else "",
                        file,
                        line,
                    )
                    open_elements.append(element)
                    continue
                open_elements.pop()
                if element.tag in ("wf", "instance"):
                    start = len(sentence.words)
                    sentence.words.extend((element.text or "").split())
                    if element.tag == "instance":
                        sentence.targets.append(
                            _target(
                                element, start, len(sentence.words), ids, file, line
                            )
                        )
                elif element.tag == "sentence":
                    if any(
                        part and part.strip()
                        for part in (element.text, *(child.tail for child in element))
                    ):
                        raise InputError(
                            "expected <wf> or <instance> around every word",
                            file=file,
                            line=line,
                        )
                    yield sentence
                    sentence = SenseSentence([], [])
                    open_elements[-1].clear()  # to free memory
    except ParseError as error:
        raise InputError(
            f"malformed XML: {error}", file=file, line=error.position[0]
        ) from None


def _check_parent(element: Element, parent: str, file: str | Path, line: int) -> None:
    if _PARENTS.get(element.tag) != parent:
        expected = (
            ", ".join(child for child, above in _PARENTS.items() if above == parent)
            or "no element"
        )
        problem = f"expected {expected} in {parent or 'the file'}, got <{element.tag}>"
        raise InputError(problem, file=file, line=line)


def _target(
    element: Element, start: int, end: int, ids: set[str], file: str | Path, line: int
) -> Target:
    name, lemma, pos = (element.get(key, "") for key in ("id", "lemma", "pos"))
    if not name or not lemma or pos not in POS_OF_TYPE.values() or start == end:
        problem = f"expected an instance with words, id, lemma and pos (NOUN, VERB, ADJ or ADV), got {element.attrib}"
        raise InputError(problem, file=file, line=line)
    if name in ids:
        raise InputError(
            f"expected unique ids, got {name!r} again", file=file, line=line
        )
    ids.add(name)
    return Target(name, lemma.lower(), pos, start, end, line)


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
            raise InputError(
                f"expected unique ids, got {name!r} again", file=file, line=number
            )
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
        if not fields:
            continue
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
