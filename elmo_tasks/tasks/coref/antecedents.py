"""
Top spans -> a score for each pair of a span and an antecedent -> clusters (Lee et al.,
2017, sections 3 to 5).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from elmo_tasks.formats.annotation.brackets import Cluster, Mention
from elmo_tasks.nn.linear import linear
from elmo_tasks.tasks.coref.spans import FactorizedScorer, tf_glorot_init_

DISTANCES = (1, 2, 3, 4, 5, 8, 16, 32, 64)
"""The lower bounds of the distance buckets, in spans; the bucket of 0 is unused."""

ROWS_AT_ONCE = 64


class TopSpans(NamedTuple):
    """K spans in the order of the text."""

    vectors: Tensor  # [K, G]
    scores: Tensor  # [K], their mention scores
    speakers: Tensor  # [K], ids of their speakers
    genre: Tensor  # a scalar, the id of the document's genre, 0 if unknown


class AntecedentScorer(nn.Module):
    """
    Scores the nearest spans j before each span i as its antecedents (Lee et al., 2017,
    section 4):

        s(i, j) = s_m(i) + s_m(j) + s_a(i, j)
        s_a(i, j) = network([g_i; g_j; g_i * g_j; same speaker; genre; distance])

    Pairs are scored in blocks of `ROWS_AT_ONCE` spans i and the spans before them,
    without building the vectors of pairs. Within a block, `W (g_i * g_j)` is computed
    as one matrix product, `(W * g_i) g_j`.

    # Parameters

    - `span_size`: width of a span's vector (G).
    - `genres`: number of known genres; unknown ones share one more embedding.
    - `max_antecedents`: number of preceding spans that are candidates.
    - `feature_size`: width of each feature embedding (E).
    - `hidden_size`: units of each hidden layer (F).
    - `dropout`: on the hidden layers and the features.
    """

    def __init__(
        self,
        *,
        span_size: int,
        genres: int,
        max_antecedents: int,
        feature_size: int,
        hidden_size: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.max_antecedents = max_antecedents
        self.same_speaker = nn.Embedding(2, feature_size)
        self.genre = nn.Embedding(1 + genres, feature_size)
        self.distance = nn.Embedding(1 + len(DISTANCES), feature_size)
        self.dropout = nn.Dropout(dropout)
        parts = [span_size, span_size, span_size, 3 * feature_size]
        self.score = FactorizedScorer(parts, hidden_size=hidden_size, dropout=dropout)
        self.register_buffer("boundaries", torch.tensor(DISTANCES), persistent=False)
        self.boundaries: Tensor
        for table in (self.same_speaker, self.genre, self.distance):
            tf_glorot_init_(table)
        # An unknown genre adds nothing, unless the training data have one.
        nn.init.zeros_(self.genre.weight[0])

    def forward(self, spans: TopSpans) -> Iterator[tuple[Tensor, slice, slice]]:
        """
        The scores of all pairs, block by block: those [R, C] of the spans in the first
        slice with the spans before them in the second one, minus infinity where there
        is no pair. The score of no antecedent is 0.
        """
        weights = self.score.weights()
        own = linear(spans.vectors, weights[0])  # [K, F]
        others = linear(spans.vectors, weights[1])  # [K, F]
        for start in range(0, len(spans.vectors), ROWS_AT_ONCE):
            rows = slice(start, min(start + ROWS_AT_ONCE, len(spans.vectors)))
            columns = slice(max(0, start - self.max_antecedents), rows.stop)
            indices = torch.arange(rows.stop, device=spans.vectors.device)
            # Positive if the column precedes the row.
            distance = indices[rows, None] - indices[columns]  # [R, C]
            features = self._features(spans, distance, rows, columns)  # [R, C, 3 E]
            products = own[rows, None] + others[None, columns]  # [R, C, F]
            products = products + _products(
                spans.vectors[rows], spans.vectors[columns], weights[2]
            )
            products = products + linear(features, weights[3])
            scores = self.score(products)  # [R, C]
            scores = scores + spans.scores[rows, None] + spans.scores[None, columns]
            near = (distance > 0) & (distance <= self.max_antecedents)
            yield scores.masked_fill(~near, -torch.inf), rows, columns

    def _features(
        self, spans: TopSpans, distance: Tensor, rows: slice, columns: slice
    ) -> Tensor:
        """
        Embeddings of speakers, genre and distance of each pair, after dropout: [R, C, 3
        E].
        """
        same = spans.speakers[rows, None] == spans.speakers[None, columns]  # [R, C]
        speakers = self.same_speaker(same.long())  # [R, C, E]
        buckets = torch.bucketize(distance, self.boundaries, right=True)
        distances = self.distance(buckets)  # [R, C, E]
        genre = self.genre(spans.genre).expand_as(distances)
        return self.dropout(torch.cat([speakers, genre, distances], 2))


def _products(rows: Tensor, columns: Tensor, weight: Tensor) -> Tensor:
    """
    `W (g_i * g_j)` for all pairs: spans [R, G] and [C, G], weight [F, G] -> [R, C, F].
    """
    flat = linear((rows[:, None] * weight).flatten(0, 1), columns)  # [R F, C]
    return flat.view(len(rows), len(weight), len(columns)).transpose(1, 2)


def marginal_loss(scores: Tensor, gold: Tensor) -> Tensor:
    """
    The negative log-likelihood [R] of each span's gold antecedents, or of none if it
    has none (Lee et al., 2017, section 6):

        log sum_j exp(s(i, j)) - log sum_(j gold) exp(s(i, j))

    from the scores [R, C] of antecedents and their gold mask [R, C]; the score of no
    antecedent is 0.
    """
    nothing = scores.new_zeros(len(scores), 1)  # [R, 1]
    right = torch.cat([~gold.any(1, keepdim=True), gold], 1)  # [R, 1 + C]
    scores = torch.cat([nothing, scores], 1)
    return scores.logsumexp(1) - scores.masked_fill(~right, -torch.inf).logsumexp(1)


def clusters_from_antecedents(
    mentions: Sequence[Mention], antecedents: Sequence[int]
) -> list[Cluster]:
    """
    Links each of M mentions, in the order of the text, with its antecedent: the index
    of an earlier one, or -1. Returns the clusters of two or more mentions, sorted by
    their first mention.
    """
    clusters: list[Cluster] = []
    cluster_of: dict[int, Cluster] = {}
    for index, antecedent in enumerate(antecedents):
        if antecedent < 0:
            continue
        if antecedent not in cluster_of:
            cluster_of[antecedent] = [mentions[antecedent]]
            clusters.append(cluster_of[antecedent])
        cluster_of[index] = cluster_of[antecedent]
        cluster_of[index].append(mentions[index])
    return sorted(clusters)
