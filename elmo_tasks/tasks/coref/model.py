"""
Coreference model: sentences -> h -> spans -> antecedents -> clusters (paper, A.6; Lee
et al., 2017).
"""

from typing import Any, Literal, NamedTuple

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from overrides import overrides
from torch import Tensor

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.brackets import Cluster, Mention
from elmo_tasks.nn.input_encoder import InputEncoder
from elmo_tasks.settings import Positive, Probability, Size, Width, checked
from elmo_tasks.tasks.coref.antecedents import (
    AntecedentScorer,
    TopSpans,
    clusters_from_antecedents,
    marginal_loss,
)
from elmo_tasks.tasks.coref.metric import CorefScores
from elmo_tasks.tasks.coref.reader import GENRES
from elmo_tasks.tasks.coref.spans import SpanScorer, prune_crossing_spans
from elmo_tasks.tasks.skipped import Skipped
from elmo_tasks.tasks.task_model import TaskModel
from elmo_tasks.training.pass_loss import loss_sums, require_finite


class Document(NamedTuple):
    """A document of S sentences and N words, or a window of it."""

    text: TextFieldTensors
    speakers: Tensor  # [N], ids
    genre: Tensor  # a scalar, its id, -1 if unknown
    lengths: list[int]  # words of each sentence
    clusters: list[Cluster]  # the gold clusters; empty if unknown


@Model.register("elmo_tasks_coref")
class CorefModel(TaskModel):
    """
    Coreference (paper, A.6): the end-to-end span model of Lee et al. (2017).

    The loss of a document is the sum over its top spans of the negative log-likelihood
    of their gold antecedents; the loss of a batch is the sum over its documents.
    Sentences are encoded independently. During training, a long document is cut to a
    random window in each pass. In the original code, input and output dropout are not
    variational (`variational_dropout`).

    # Parameters

    - `hidden_size`: units of each hidden layer of the mention and pair scorers.
    - `feature_size`: width of the embeddings of span widths, distances, speakers and
      genres.
    - `dropout`: dropout on those hidden layers and embeddings.
    - `max_span_width`: largest number of words in a span.
    - `spans_per_word`: number of top spans that are kept per word of the document.
    - `max_antecedents`: number of preceding top spans that are considered as the
      antecedent of a span.
    - `max_training_sentences`: in training, longer documents are cut to a random window
      of this many sentences.
    - `head_values`: the vectors from which span heads are averaged: the `embeddings`,
      or the whole `input`, which includes ELMo.
    - `kwargs`: see `TaskModel`.

    Raises `InputError` if there are no embeddings for `head_values`.
    """

    default_predictor = "elmo_tasks_coref"
    default_evaluator = "elmo_tasks_coref"

    @checked
    def __init__(
        self,
        vocab: Vocabulary,
        input_encoder: InputEncoder,
        *,
        hidden_size: Width = 150,
        feature_size: Width = 20,
        dropout: Probability = 0.2,
        max_span_width: Width = 10,
        spans_per_word: Positive = 0.4,
        max_antecedents: Size = 250,
        max_training_sentences: Size = 50,
        head_values: Literal["embeddings", "input"] = "embeddings",
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, input_encoder, **kwargs)
        self._spans_per_word = spans_per_word
        self._max_training_sentences = max_training_sentences
        self._value_size = self._width_of(head_values)
        shared: dict[str, Any] = {
            "feature_size": feature_size,
            "hidden_size": hidden_size,
            "dropout": dropout,
        }
        self.spans = SpanScorer(
            encoded_size=self.input_encoder.get_output_dim(),
            value_size=self._value_size,
            max_width=max_span_width,
            **shared,
        )
        self.antecedents = AntecedentScorer(
            span_size=self.spans.output_size,
            genres=vocab.get_vocab_size(GENRES),
            max_antecedents=max_antecedents,
            **shared,
        )
        self._scores = CorefScores()
        self._skipped = Skipped()

    @overrides(check_signature=False)
    def forward(
        self,
        text: TextFieldTensors,
        speakers: Tensor,
        genre: Tensor,
        metadata: list[dict[str, Any]],
    ) -> dict[str, Any]:
        """
        # Parameters

        - `text`: B documents of S sentences of T words.
        - `speakers`, [B, N]: ids of the speakers of each document's words.
        - `genre`, [B]: ids of the genres, -1 if unknown.
        - `metadata`: for each document its `sentences`, and its gold `clusters` or
          None.

        Returns `sentences`, `key` and `part` of each document; except during training
        its predicted `clusters`, and `losses` [B], which are finite if all scores are;
        if documents have gold clusters their `loss`, a scalar.
        """
        for known in metadata:
            self.require_gold(known["clusters"])
        losses = []
        predicted = []
        gold_losses = []
        for row, known in enumerate(metadata):
            document = _document(text, speakers, genre, known, row)
            loss, clusters = self._resolve(self._window(document))
            losses.append(loss)
            predicted.append(clusters)
            if known["clusters"] is not None:
                gold_losses.append(loss)
        output: dict[str, Any] = {}
        for key in ("sentences", "key", "part"):
            output[key] = [known[key] for known in metadata]
        if not self.training:
            output["clusters"] = predicted
            output["losses"] = torch.stack(losses)
        if gold_losses:
            output["loss"] = torch.stack(gold_losses).sum()
            output |= loss_sums(output["loss"], len(gold_losses))
        if not self.training:
            self._score(predicted, metadata)
        return output

    def _score(
        self, predicted: list[list[Cluster]], metadata: list[dict[str, Any]]
    ) -> None:
        """Updates the metrics with the documents that have gold clusters."""
        self._skipped(metadata)
        for clusters, known in zip(predicted, metadata, strict=True):
            if known["clusters"] is not None:
                self._scores(clusters, known["clusters"])

    @overrides(check_signature=False)
    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Removes the loss of each document, after checking it with `require_finite`.
        """
        require_finite(output_dict.pop("losses"))
        return output_dict

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        Except during training `precision`, `recall` and `f1`, the means over MUC,
        B-cubed and CEAF-e. At the end of a pass (`reset`) also those of each metric,
        such as `muc_f1`, the number of documents without a score, `documents_skipped`,
        and ELMo's learned weights. Raises `InputError` at the end of an evaluation in
        which no document had gold clusters.
        """
        if reset and not self.training and not self._scores.documents:
            problem = "nothing to score: no document has gold clusters"
            hint = "use `elmo-tasks predict` for documents without them"
            raise InputError(problem, hint=hint)
        scores: dict[str, float] = {}
        if not self.training:
            scores = self._scores.get_metric(reset)
            if reset:
                scores["documents_skipped"] = self._skipped.get_metric(reset)
        if reset:
            return scores | self.input_encoder.describe()
        return {name: value for name, value in scores.items() if "_" not in name}

    def _resolve(self, document: Document) -> tuple[Tensor, list[Cluster]]:
        """The loss, and except during training the predicted clusters."""
        encoded, values, lengths = self._words(document)  # [N, D], [N, V], [S]
        grid = self.spans(encoded, values, lengths)
        limit = max(1, int(self._spans_per_word * len(encoded)))
        top_spans = prune_crossing_spans(grid.scores, grid.mask, limit=limit)  # [K, 2]
        labels = cluster_labels(document.clusters, tuple(grid.mask.shape))
        own = labels[top_spans[:, 0], top_spans[:, 1]]  # [K]
        selected = torch.column_stack([top_spans, own]).to(encoded.device)  # [K, 3]
        first, width, labels = selected.unbind(1)
        vectors = self.spans.vectors(grid, encoded, values, selected[:, :2])  # [K, G]
        kept = TopSpans(
            vectors,
            grid.scores[first, width],
            document.speakers[first],
            document.genre + 1,
        )
        loss, antecedents = self._link(kept, labels)
        if self.training:
            return loss, []
        mentions: list[Mention] = []
        for start, extent in top_spans.tolist():
            mentions.append((start, start + extent + 1))
        return loss, clusters_from_antecedents(mentions, antecedents.tolist())

    def _words(self, document: Document) -> tuple[Tensor, Tensor, Tensor]:
        """
        h and the head values of all words, in the order of the text, and the sentences'
        lengths.
        """
        h, x, mask = self.input_encoder(document.text)
        words = mask.flatten().nonzero().squeeze(1)  # [N]
        values = x[..., : self._value_size]
        return h.flatten(0, 1)[words], values.flatten(0, 1)[words], mask.sum(1)

    def _link(self, kept: TopSpans, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The loss, and the index of the best antecedent of each span, -1 for none."""
        losses = []
        best_antecedents = []
        for scores, rows, columns in self.antecedents(kept):
            own = labels[rows, None]  # [R, 1]
            same = (own == labels[None, columns]) & (own > 0)  # [R, C]
            losses.append(marginal_loss(scores, same & scores.isfinite()).sum())
            best, column = scores.max(1)  # [R] each
            # 0 is the score of no antecedent.
            best_antecedents.append(torch.where(best > 0, column + columns.start, -1))
        return torch.stack(losses).sum(), torch.cat(best_antecedents)

    def _window(self, document: Document) -> Document:
        """The document, or during training a window of a long one."""
        surplus = len(document.lengths) - self._max_training_sentences
        if not self.training or surplus <= 0:
            return document
        start = int(torch.randint(surplus + 1, ()))
        return window(document, start, start + self._max_training_sentences)

    def _width_of(self, head_values: str) -> int:
        """
        The width of the first part of x that heads are made of; the embeddings come
        first.
        """
        if head_values == "input":
            return self.input_encoder.get_input_dim()
        embedder = self.input_encoder.embedder
        if embedder is None:
            problem = "there are no embeddings for span heads"
            raise InputError(problem, hint="set head_values to input")
        return embedder.get_output_dim()


def window(document: Document, start: int, stop: int) -> Document:
    """Sentences `start` to `stop` of a document, and the mentions within them."""
    text: TextFieldTensors = {}
    for key, tensors in document.text.items():
        text[key] = {name: ids[start:stop] for name, ids in tensors.items()}
    first = sum(document.lengths[:start])
    last = sum(document.lengths[:stop])
    within = []
    for cluster in document.clusters:
        kept: Cluster = []
        for begin, end in cluster:
            if first <= begin and end <= last:
                kept.append((begin - first, end - first))
        within.append(kept)
    return Document(
        text,
        document.speakers[first:last],
        document.genre,
        document.lengths[start:stop],
        within,
    )


def cluster_labels(clusters: list[Cluster], shape: tuple[int, ...]) -> Tensor:
    """
    For each span of a grid [N, W] the number of its gold cluster, from 1; 0 for none.
    """
    labels = torch.zeros(shape, dtype=torch.long)
    for number, cluster in enumerate(clusters, start=1):
        for start, end in cluster:
            if end - start <= shape[1]:
                labels[start, end - start - 1] = number
    return labels


def _document(
    text: TextFieldTensors,
    speakers: Tensor,
    genre: Tensor,
    known: dict[str, Any],
    row: int,
) -> Document:
    """One document of the batch, without padding."""
    lengths = [len(sentence) for sentence in known["sentences"]]
    own: TextFieldTensors = {}
    for key, tensors in text.items():
        own[key] = {name: ids[row, : len(lengths)] for name, ids in tensors.items()}
    return Document(
        own, speakers[row, : sum(lengths)], genre[row], lengths, known["clusters"] or []
    )
