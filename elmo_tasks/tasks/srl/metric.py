"""
Precision, recall and F1 of arguments as srl-eval.pl computes them: an argument is correct if its label and all its
spans are. Values are between 0 and 1.

Source: the scorer of the CoNLL-2004 and 2005 shared tasks (Carreras and Màrquez), also used for CoNLL-2012.
"""

from collections.abc import Sequence

from allennlp.training.metrics import Metric

from elmo_tasks.tasks.labelled_f1 import LabelledF1
from elmo_tasks.tasks.srl.arguments import VERB, Argument, arguments_from_tags


@Metric.register("elmo_tasks_srl_f1")
class SrlF1(LabelledF1):
    """
    Micro-averaged argument scores, overall and per label; see `LabelledF1`. The predicate (V, with C-V) has a score per
    label but is excluded from the overall score.
    """

    def spelled(self, tags: Sequence[str]) -> list[Argument]:
        return arguments_from_tags(tags)

    def counts_overall(self, label: str) -> bool:
        """True for all labels but V."""
        return label != VERB
