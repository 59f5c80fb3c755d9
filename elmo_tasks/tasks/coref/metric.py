"""
Coreference scores: MUC, B-cubed and CEAF-e as in the official scorer of CoNLL-2012 (version 8.01), and the mean of
their F1.

Each is a ratio of sums over all documents. With key clusters K and response clusters R:

| | recall | over | precision | over |
|---|---|---|---|---|
| MUC (Vilain et al., 1995) | links of R that K has | sum of `|K| - 1` | the same | sum of `|R| - 1` |
| B-cubed (Bagga, 1998) | sum of `|K and R|^2 / |K|` | mentions of K | sum of `|K and R|^2 / |R|` | mentions of R |
| CEAF-e (Luo, 2005) | best one-to-one sum of `2 |K and R| / (|K| + |R|)` | number of K | the same | number of R |

Singletons in the input count. Of a repeated mention the first one counts, except that in a response, mentions that are
not in the key count each time.
"""

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
import torch
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric

from elmo_tasks.formats.brackets import Cluster, Mention

METRICS = ("muc", "b_cubed", "ceaf_e")
PARTS = ("precision", "recall", "f1")

_Clusters = Sequence[Sequence[Mention]]


@Metric.register("elmo_tasks_coref")
class CorefScores(Metric):
    """
    Accumulates the scores over documents. In distributed runs the counts of all processes are summed; each process must
    call it equally often.
    """

    supports_distributed = True

    def __init__(self) -> None:
        self.reset()

    def __call__(self, response: _Clusters, key: _Clusters) -> None:
        """Adds a document: its predicted and gold clusters, in any order; either may be empty."""
        counts = torch.from_numpy(document_counts(response, key))
        self._counts += dist_reduce_sum(counts).numpy()
        self.documents += dist_reduce_sum(1)

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """
        Values between 0 and 1: `precision`, `recall` and `f1`, the means over the three metrics, and those of each
        metric, such as `ceaf_e_f1`. A ratio over 0 is 0.
        """
        recall, precision = _ratio(
            self._counts[:, ::2], self._counts[:, 1::2]
        ).T  # [3] each
        f1 = _ratio(2 * precision * recall, precision + recall)
        scores = np.stack([precision, recall, f1], 1)  # [3, 3]
        means = dict(zip(PARTS, scores.mean(0).tolist(), strict=True))
        names = [f"{metric}_{part}" for metric in METRICS for part in PARTS]
        if reset:
            self.reset()
        return means | dict(zip(names, scores.flatten().tolist(), strict=True))

    def reset(self) -> None:
        self._counts = np.zeros((len(METRICS), 4))
        self.documents = 0


def document_counts(response: _Clusters, key: _Clusters) -> np.ndarray:
    """For each of `METRICS` the numerators and denominators of recall and precision of one document: [3, 4]."""
    key = _without_repetitions(key)
    home = {mention: place for place, cluster in enumerate(key) for mention in cluster}
    response = _without_repetitions(response, among=home)
    shared = [
        Counter(home[mention] for mention in cluster if mention in home)
        for cluster in response
    ]
    sizes = [len(cluster) for cluster in key], [len(cluster) for cluster in response]
    return np.array(
        [_muc(shared, *sizes), _b_cubed(shared, *sizes), _ceaf_e(shared, *sizes)]
    )


# In all three, `shared` counts for each response cluster its mentions in each key cluster.
_Shared = Sequence[Counter[int]]
_Counts = tuple[float, float, float, float]


def _muc(
    shared: _Shared, key_sizes: Sequence[int], response_sizes: Sequence[int]
) -> _Counts:
    links = sum(common - 1 for row in shared for common in row.values())
    return (
        links,
        sum(key_sizes) - len(key_sizes),
        links,
        sum(response_sizes) - len(response_sizes),
    )


def _b_cubed(
    shared: _Shared, key_sizes: Sequence[int], response_sizes: Sequence[int]
) -> _Counts:
    recall = sum(
        common**2 / key_sizes[place] for row in shared for place, common in row.items()
    )
    pairs = zip(shared, response_sizes, strict=True)
    precision = sum(common**2 / size for row, size in pairs for common in row.values())
    return recall, sum(key_sizes), precision, sum(response_sizes)


def _ceaf_e(
    shared: _Shared, key_sizes: Sequence[int], response_sizes: Sequence[int]
) -> _Counts:
    from scipy.optimize import linear_sum_assignment

    similarity = np.zeros((len(response_sizes), len(key_sizes)))
    for place, (row, size) in enumerate(zip(shared, response_sizes, strict=True)):
        for other, common in row.items():
            similarity[place, other] = 2 * common / (size + key_sizes[other])
    aligned = similarity[linear_sum_assignment(similarity, maximize=True)].sum()
    return aligned, len(key_sizes), aligned, len(response_sizes)


def _without_repetitions(
    clusters: _Clusters, among: Collection[Mention] | None = None
) -> list[Cluster]:
    """The non-empty clusters; repeated mentions are removed, if `among` is given only those in it."""
    seen: set[Mention] = set()
    kept: list[Cluster] = []
    for cluster in clusters:
        kept.append([])
        for mention in cluster:
            if mention not in seen or (among is not None and mention not in among):
                kept[-1].append(mention)
            seen.add(mention)
    return [cluster for cluster in kept if cluster]


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return part / np.where(whole > 0, whole, 1.0)  # a part of nothing is 0
