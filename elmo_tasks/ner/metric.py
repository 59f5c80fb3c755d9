"""
Entity precision, recall and F1 as in conlleval, the scorer of the CoNLL-2000 to 2003 shared tasks: an entity is correct
if its boundaries and type are. Values are between 0 and 1; BIOUL and BIOES tags are converted to BIO.
"""

from collections.abc import Sequence

from allennlp.training.metrics import Metric

from elmo_tasks.data.spans import Span, spans_from_tags
from elmo_tasks.metrics.labelled_f1 import LabelledF1


@Metric.register("elmo_tasks_entity_f1")
class EntityF1(LabelledF1):
    """Micro-averaged entity scores, overall and per type; see `LabelledF1`."""

    def spelled(self, tags: Sequence[str]) -> list[Span]:
        return spans_from_tags(tags)
