"""
Entity precision, recall and F1 as conlleval counts them: an entity is right if its boundaries and its type are.

Source: the scorer of the CoNLL-2000 to 2003 shared tasks. Departures: values are between 0 and 1, and BIOUL or BIOES
tags count as the BIO tags they stand for (U and S as B, L and E as I).
"""

from collections.abc import Sequence

from allennlp.training.metrics import Metric

from elmo_tasks.data.spans import Span, spans_from_tags
from elmo_tasks.metrics.labelled_f1 import LabelledF1


@Metric.register("elmo_tasks_entity_f1")
class EntityF1(LabelledF1):
    """Micro-averaged entity scores, overall and per type; see `LabelledF1`."""

    def spelled(self, tags: Sequence[str]) -> list[Span]:
        """The entities of a sentence."""
        return spans_from_tags(tags)
