"""
The file format of srl-eval.pl: one line per word, with the lemma of a predicate (else `-`) in the first column and one
column of brackets per predicate, and an empty line after each sentence.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.files import atomic_write
from elmo_tasks.formats.brackets import brackets_from_spans
from elmo_tasks.formats.spans import spans_from_tags

_NONE, _UNKNOWN = "-", "?"


class Proposition(NamedTuple):
    """The tags of a predicate, and the location of its sentence, by which propositions are sorted."""

    file: str
    line: int
    predicate: int  # its index among the T words
    lemma: str  # `-`, which the format reserves for words that are not predicates, is written as `?`
    tags: Sequence[str]  # T tags in BIO


def props(propositions: Iterable[Proposition]) -> str:
    """The content of a file of these propositions, sorted by sentence."""
    ordered = sorted(propositions, key=lambda one: one[:3])
    return "".join(_sentence(list(group)) for _, group in groupby(ordered, key=lambda one: one[:2]))


def write_props(file: str | Path, propositions: Iterable[Proposition]) -> None:
    """Writes `props` atomically. Raises `InputError` if the file cannot be written."""
    with atomic_write(file) as aside:
        aside.write_text(props(propositions), encoding="utf-8")


def _sentence(propositions: Sequence[Proposition]) -> str:
    length = len(propositions[0].tags)
    lemmas = [_NONE] * length
    for one in propositions:
        lemmas[one.predicate] = _UNKNOWN if one.lemma == _NONE else one.lemma
    columns = [brackets_from_spans(spans_from_tags(one.tags), length=length) for one in propositions]
    rows = zip(lemmas, *columns, strict=True)
    return "".join(f"{' '.join(row)}\n" for row in rows) + "\n"
