"""
Exact match and F1 of the official SQuAD v1.1 script (Rajpurkar et al. 2016, section
6.1), as values between 0 and 1.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric
from overrides import overrides

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


@Metric.register("elmo_tasks_squad")
class SquadEmAndF1(Metric):
    """
    The mean over all questions of the maximum over their gold answers, for EM and F1
    separately.

    In distributed runs the sums of each call are summed over the processes.
    """

    supports_distributed = True

    def __init__(self) -> None:
        self.reset()

    @overrides(check_signature=False)
    def __call__(
        self, predictions: Sequence[str], gold_labels: Sequence[Sequence[str]]
    ) -> None:
        """
        Adds a batch of B answers, and for each question one or more gold answers.
        Raises `ValueError` if the numbers differ or a question has no gold answer;
        nothing is counted then.
        """
        exact = 0.0
        overlap = 0.0
        for predicted, golds in zip(predictions, gold_labels, strict=True):
            exact += best(exact_match, predicted, golds)
            overlap += best(f1, predicted, golds)
        self._exact += dist_reduce_sum(exact)
        self._f1 += dist_reduce_sum(overlap)
        self._count += dist_reduce_sum(len(predictions))

    @overrides
    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """Returns `em` and `f1`, between 0 and 1; 0 without questions."""
        count = max(1, self._count)
        scores = {"em": self._exact / count, "f1": self._f1 / count}
        if reset:
            self.reset()
        return scores

    @overrides
    def reset(self) -> None:
        self._exact = 0.0
        self._f1 = 0.0
        self._count = 0


def normalize(answer: str) -> str:
    """
    Lower-cases, removes ASCII punctuation and the articles a, an, the, and normalises
    white space.
    """
    bare = answer.lower().translate(_WITHOUT_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def exact_match(predicted: str, gold: str) -> float:
    """1 if both are equal after normalisation, else 0."""
    return float(normalize(predicted) == normalize(gold))


def f1(predicted: str, gold: str) -> float:
    """
    The F1 of the normalised words of both; 0 without a common word, also if both are
    empty.
    """
    predicted_words = normalize(predicted).split()
    gold_words = normalize(gold).split()
    common = (Counter(predicted_words) & Counter(gold_words)).total()
    if common == 0:
        return 0.0
    precision = common / len(predicted_words)
    recall = common / len(gold_words)
    return 2 * precision * recall / (precision + recall)


def best(
    score: Callable[[str, str], float], predicted: str, golds: Sequence[str]
) -> float:
    """
    The highest score over the gold answers. Raises `ValueError` if there are none.
    """
    return max(score(predicted, gold) for gold in golds)
