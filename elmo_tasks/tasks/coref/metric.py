"""
Coreference scores: MUC, B-cubed and CEAF-e as in the official scorer of CoNLL-2012
(version 8.01), and the mean of their F1 (Pradhan et al., 2014, "Scoring Coreference
Partitions of Predicted Mentions").

Each is a ratio of sums over all documents. With key clusters K and response clusters R:

| | recall | over | precision | over |
|---|---|---|---|---|
| MUC (Vilain et al., 1995) | links of R that K has | sum of `|K| - 1` | the same | sum of `|R| - 1` |
| B-cubed (Bagga, 1998) | sum of `|K and R|^2 / |K|` | mentions of K | sum of `|K and R|^2 / |R|` | mentions of R |
| CEAF-e (Luo, 2005) | best one-to-one sum of `2 |K and R| / (|K| + |R|)` | number of K | the same | number of R |

Singletons in the input count. A mention may be repeated in a cluster, or stand in
several:

- The scorer reads clusters in the order in which they begin in the text, whatever their
  order here. Clusters of the key that begin with the same mention keep their order;
  those of the response are sorted by their other mentions.
- In the key every mention counts as often as it stands there. Where a mention of the
  response is looked up in the key (MUC, B-cubed), it belongs to the last of its
  clusters.
- In the response a mention that the key has counts only where it is read first, and
  clusters without any other mention are dropped. A mention that the key has not counts
  each time.

The scorer refuses a response with more than ten repeated mentions; here it has a score.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_tasks.formats.annotation.brackets import Cluster, Mention, reading_order

METRICS = ("muc", "b_cubed", "ceaf_e")
PARTS = ("precision", "recall", "f1")

_Clusters = Sequence[Sequence[Mention]]


@Metric.register("elmo_tasks_coref")
class CorefScores(Metric):
    """
    Accumulates the scores over documents. In distributed runs the counts of all
    processes are summed; each process must call it equally often.
    """

    supports_distributed = True

    def __init__(self) -> None:
        self.reset()

    @overrides(check_signature=False)
    def __call__(self, response: _Clusters, key: _Clusters) -> None:
        """Adds a document: its predicted and gold clusters; either may be empty."""
        counts = torch.from_numpy(document_counts(response, key))
        self._counts += dist_reduce_sum(counts).numpy()
        self.documents += dist_reduce_sum(1)

    @overrides
    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """
        Values between 0 and 1: `precision`, `recall` and `f1`, the means over the three
        metrics, and those of each metric, such as `ceaf_e_f1`. A ratio over 0 is 0.
        """
        numerators = self._counts[:, ::2]  # [3, 2], of recall and precision
        recall, precision = _ratio(numerators, self._counts[:, 1::2]).T  # [3] each
        f1 = _ratio(2 * precision * recall, precision + recall)
        by_metric = np.stack([precision, recall, f1], 1)  # [3, 3]
        scores = dict(zip(PARTS, by_metric.mean(0).tolist(), strict=True))
        for metric, row in zip(METRICS, by_metric.tolist(), strict=True):
            for part, score in zip(PARTS, row, strict=True):
                scores[f"{metric}_{part}"] = score
        if reset:
            self.reset()
        return scores

    @overrides
    def reset(self) -> None:
        self._counts = np.zeros((len(METRICS), 4))
        self.documents = 0


def document_counts(response: _Clusters, key: _Clusters) -> np.ndarray:
    """
    For each of `METRICS` the numerators and denominators of recall and precision of one
    document: [3, 4].
    """
    key_read = sorted(
        _sorted_mentions(key), key=lambda mentions: reading_order(mentions[0])
    )
    homes: dict[Mention, list[int]] = {}
    for index, cluster in enumerate(key_read):
        for mention in cluster:
            homes.setdefault(mention, []).append(index)
    response_read = sorted(
        _sorted_mentions(response),
        key=lambda mentions: list(map(reading_order, mentions)),
    )
    distinct = _without_repetitions(response_read, among=homes)
    overlaps = [_overlap(cluster, homes) for cluster in distinct]
    key_sizes = [len(cluster) for cluster in key_read]
    response_sizes = [len(cluster) for cluster in distinct]
    counts = (_muc, _b_cubed, _ceaf_e)
    return np.array([count(overlaps, key_sizes, response_sizes) for count in counts])


class _Overlap(NamedTuple):
    """
    How many mentions a cluster of the response has of each cluster of the key, by the
    index of the latter.
    """

    owned: Counter[int]  # mentions that are looked up there
    distinct: Counter[int]
    repeated: Counter[int]  # as often as they stand in the cluster of the key


_Overlaps = Sequence[_Overlap]
_Counts = tuple[float, float, float, float]


def _overlap(cluster: Cluster, homes: Mapping[Mention, Sequence[int]]) -> _Overlap:
    """`homes` has the indices of each mention's clusters in the key, in order."""
    overlap = _Overlap(Counter(), Counter(), Counter())
    for mention in cluster:
        indices = homes.get(mention)
        if indices is not None:
            overlap.owned[indices[-1]] += 1
            overlap.distinct.update(set(indices))
            overlap.repeated.update(indices)
    return overlap


def _muc(
    overlaps: _Overlaps, key_sizes: Sequence[int], response_sizes: Sequence[int]
) -> _Counts:
    links = 0
    for overlap in overlaps:
        links += sum(overlap.owned.values()) - len(overlap.owned)
    key_links = sum(key_sizes) - len(key_sizes)
    return links, key_links, links, sum(response_sizes) - len(response_sizes)


def _b_cubed(
    overlaps: _Overlaps, key_sizes: Sequence[int], response_sizes: Sequence[int]
) -> _Counts:
    recall = precision = 0.0
    for overlap, size in zip(overlaps, response_sizes, strict=True):
        for index, mentions in overlap.owned.items():
            common = mentions * overlap.distinct[index]
            recall += common / key_sizes[index]
            precision += common / size
    return recall, sum(key_sizes), precision, sum(response_sizes)


def _ceaf_e(
    overlaps: _Overlaps, key_sizes: Sequence[int], response_sizes: Sequence[int]
) -> _Counts:
    from scipy.optimize import linear_sum_assignment

    similarity = np.zeros((len(response_sizes), len(key_sizes)))
    for row, (overlap, size) in enumerate(zip(overlaps, response_sizes, strict=True)):
        for index, common in overlap.repeated.items():
            similarity[row, index] = 2 * common / (size + key_sizes[index])
    aligned = similarity[linear_sum_assignment(similarity, maximize=True)].sum()
    return aligned, len(key_sizes), aligned, len(response_sizes)


def _sorted_mentions(clusters: _Clusters) -> list[Cluster]:
    """The non-empty clusters; the mentions of each in the order of the text."""
    return [sorted(cluster, key=reading_order) for cluster in clusters if cluster]


def _without_repetitions(
    clusters: Sequence[Cluster], *, among: Mapping[Mention, object]
) -> list[Cluster]:
    """
    The clusters without repetitions of the mentions in `among`; those that have no
    other mention are dropped.
    """
    seen: set[Mention] = set()
    kept: list[Cluster] = []
    for cluster in clusters:
        first: Cluster = []
        for mention in cluster:
            if mention not in seen:
                first.append(mention)
            if mention in among:
                seen.add(mention)
        if first:
            kept.append(first)
    return kept


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return part / np.where(whole > 0, whole, 1.0)  # a part of nothing is 0
