"""
Precision, recall and F1 of tags and of the spans that they encode, between 0 and 1.
"""

from collections.abc import Iterable, Sequence

from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_tasks.formats.annotation.spans import Span, spans_from_tags
from elmo_tasks.tasks.labelled_f1 import LabelledF1


@Metric.register("elmo_tasks_entity_f1")
class EntityF1(LabelledF1):
    """
    Micro-averaged entity scores, overall and per type, as in conlleval, the scorer of
    the CoNLL-2000 to 2003 shared tasks: an entity is correct if its boundaries and type
    are. Tags may be of any scheme, and illegal; L is read as E, U as S, M as I.
    """

    def spelled(self, tags: Sequence[str]) -> list[Span]:
        return spans_from_tags(tags)


class TagF1(LabelledF1):
    """
    F1 of each tag. A word has one tag, so the overall precision, recall and F1 are the
    accuracy.
    """

    def spelled(self, tags: Sequence[str]) -> Iterable[Span]:
        """The words of a sentence with their tags."""
        return [Span(position, position + 1, tag) for position, tag in enumerate(tags)]

    @overrides
    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """
        `accuracy`, the unweighted mean of the tags' F1 (`f1`), and `f1-NOUN` and so on
        for each tag.
        """
        scores = super().get_metric(reset)
        by_tag = {}
        for name, value in scores.items():
            if name.startswith("f1-"):
                by_tag[name] = value
        mean = sum(by_tag.values()) / max(1, len(by_tag))
        return {"accuracy": scores["f1"], "f1": mean} | by_tag
