"""
`elmo-tasks evaluate --predictions-output-file`: writes gold and predicted propositions for srl-eval.pl. Its format has
one line per word, with the lemma of a predicate (else `-`) in the first column and one column of brackets per
predicate, and an empty line after each sentence.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.evaluation import Evaluator

from elmo_tasks.files import atomic_write
from elmo_tasks.formats.brackets import brackets_from_spans
from elmo_tasks.formats.spans import spans_from_tags
from elmo_tasks.tasks.evaluator import OfficialEvaluator

_NONE, _UNKNOWN = "-", "?"


class Proposition(NamedTuple):
    """The tags of a predicate, and the location of its sentence, by which propositions are sorted."""

    file: str
    line: int
    predicate: int  # its index among the T words
    lemma: str  # `-`, which the format reserves for words that are not predicates, is written as `?`
    tags: Sequence[str]  # T tags in BIO


def _write_props(file: Path, propositions: Iterable[Proposition]) -> None:
    """Writes these propositions, sorted by sentence."""
    ordered = sorted(propositions, key=lambda one: one[:3])
    sentences = (_sentence(list(group)) for _, group in groupby(ordered, key=lambda one: one[:2]))
    with atomic_write(file) as aside:
        aside.write_text("".join(sentences), encoding="utf-8")


def _sentence(propositions: Sequence[Proposition]) -> str:
    length = len(propositions[0].tags)
    lemmas = [_NONE] * length
    for one in propositions:
        lemmas[one.predicate] = _UNKNOWN if one.lemma == _NONE else one.lemma
    columns = [brackets_from_spans(spans_from_tags(one.tags), length=length) for one in propositions]
    rows = zip(lemmas, *columns, strict=True)
    return "".join(f"{' '.join(row)}\n" for row in rows) + "\n"


GOLD_SUFFIX = ".gold"
"""Appended to the name of the file of predictions for the file of gold propositions."""


@Evaluator.register("elmo_tasks_srl")
class SrlEvaluator(OfficialEvaluator):
    """
    Writes the predicted propositions to `FILE` and the gold ones to `FILE.gold`, both atomically, so that
    `perl srl-eval.pl FILE.gold FILE` scores them. See `OfficialEvaluator`.
    """

    def predictions(self, batch: dict[str, Any], output: dict[str, Any]) -> list[tuple[dict[str, Any], list[str]]]:
        """Metadata and predicted tags of each proposition."""
        return list(zip(batch["metadata"], output["tags"], strict=True))

    def write(self, file: Path, predictions: Iterable[tuple[dict[str, Any], list[str]]]) -> None:
        gold: list[Proposition] = []
        predicted: list[Proposition] = []
        for metadata, tags in predictions:
            known = (metadata["file"], metadata["line"], metadata["predicate"], metadata["lemma"])
            gold.append(Proposition(*known, metadata["tags"]))
            predicted.append(Proposition(*known, tags))
        _write_props(file, predicted)
        _write_props(file.with_name(file.name + GOLD_SUFFIX), gold)
