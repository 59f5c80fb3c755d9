"""
The format of srl-eval.pl, so that it can be run beside our metric: a line per word, the lemma of each predicate in the
first column (else `-`), then a column of brackets per predicate, in their order; an empty line after each sentence.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.atomic import atomic_write
from elmo_tasks.data.brackets import brackets_from_spans
from elmo_tasks.data.spans import spans_from_tags

_NONE, _UNKNOWN = "-", "?"


class Proposition(NamedTuple):
    """
    A predicate with its tags, and where its sentence stands.

    # Parameters

    file, line : `str`, `int`
        They sort the sentences.
    predicate : `int`
        Its place among the T words.
    lemma : `str`
        Where it is `-`, which stands for no predicate there, `?` is written.
    tags : `Sequence[str]`
        T tags in BIO.
    """

    file: str
    line: int
    predicate: int
    lemma: str
    tags: Sequence[str]


def props(propositions: Iterable[Proposition]) -> str:
    """The text of a file of these propositions, sentence by sentence whatever order they come in."""
    ordered = sorted(propositions, key=lambda one: one[:3])
    return "".join(_sentence(list(of_one)) for _, of_one in groupby(ordered, key=lambda one: one[:2]))


def write_props(file: str | Path, propositions: Iterable[Proposition]) -> None:
    """
    Writes `props`, all of them or none.

    # Raises

    `InputError`
        If the file cannot be written.
    """
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
