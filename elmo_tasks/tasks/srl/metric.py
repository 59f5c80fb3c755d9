"""
Precision, recall and F1 of arguments as srl-eval.pl computes them: an argument is
correct if its label and all its spans are. Values are between 0 and 1.

Source: the scorer of the CoNLL-2004 and 2005 shared tasks (Carreras and Màrquez), also
used for CoNLL-2012.
"""

from collections.abc import Sequence
from typing import NamedTuple

from allennlp.training.metrics import Metric

from elmo_tasks.formats.annotation.spans import spans_from_tags
from elmo_tasks.tasks.labelled_f1 import LabelledF1

CONTINUATION = "C-"
VERB = "V"
"""The label of the predicate."""


class Argument(NamedTuple):
    """An argument of a proposition, of one or more spans."""

    label: str  # without C-
    spans: tuple[tuple[int, int], ...]  # start and end of each, in order


def arguments_from_tags(tags: Sequence[str]) -> list[Argument]:
    """
    The arguments of a sequence of BIO tags; an I that continues nothing begins a span.

    Each span `C-X` joins the last argument X before it, or starts an argument X if
    there is none. Adjacent spans stay separate: such an argument differs from one that
    covers the same words in one span. `R-X` is an ordinary label.

    Raises `ValueError` if a tag is invalid.
    """
    arguments: list[tuple[str, list[tuple[int, int]]]] = []
    last: dict[str, list[tuple[int, int]]] = {}  # the spans of the last argument X
    for start, end, label in spans_from_tags(tags):
        plain = label.removeprefix(CONTINUATION)
        if label != plain and plain in last:
            last[plain].append((start, end))
        else:
            last[plain] = [(start, end)]
            arguments.append((plain, last[plain]))
    return [Argument(label, tuple(spans)) for label, spans in arguments]


@Metric.register("elmo_tasks_srl_f1")
class SrlF1(LabelledF1):
    """
    Micro-averaged argument scores, overall and per label; see `LabelledF1`. The
    predicate (V, with C-V) has a score per label but is excluded from the overall
    score.
    """

    excluded = VERB

    def spelled(self, tags: Sequence[str]) -> list[Argument]:
        return arguments_from_tags(tags)
