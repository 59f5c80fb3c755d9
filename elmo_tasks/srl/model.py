"""Second step of SRL: words and the predicate -> h -> a distribution over tags -> BIO tags (paper, appendix A.5)."""

from collections.abc import Sequence
from typing import Any

from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.nn.util import sequence_cross_entropy_with_logits
from torch import Tensor, nn

from elmo_tasks.data.labels import UNKNOWN_LABEL
from elmo_tasks.nn.task_model import TaskModel
from elmo_tasks.srl.decoding import BioViterbi
from elmo_tasks.srl.metric import SrlF1

LABELS = "labels"
"""The part of the vocabulary that holds the tags."""


@Model.register("elmo_tasks_srl")
class SrlTagger(TaskModel):
    """
    One dense layer with softmax on the encoder's output. That a token is the predicate reaches the encoder as a part of
    the token's embedding, from the text field's key `predicate`.

    The loss of a batch is the mean over its sentences of the mean over their tokens of the gold tags' negative
    log-likelihood, plus ELMo's penalty. At test time the Viterbi search over log-probabilities passes through legal BIO
    sequences alone.

    # Parameters

    vocab : `Vocabulary`
    kwargs
        See `TaskModel`.
    """

    default_predictor = "elmo_tasks_srl"

    def __init__(self, vocab: Vocabulary, **kwargs: Any) -> None:
        super().__init__(vocab, **kwargs)
        self.tags = list(vocab.get_token_to_index_vocabulary(LABELS))
        self.score_tags = nn.Linear(self.lowest_layers.get_output_dim(), len(self.tags))
        nn.init.orthogonal_(self.score_tags.weight)
        nn.init.zeros_(self.score_tags.bias)
        self._viterbi = BioViterbi(self.tags)
        self._f1 = SrlF1()

    def forward(
        self, tokens: TextFieldTensors, metadata: list[dict[str, Any]], tags: Tensor | None = None
    ) -> dict[str, Any]:
        """
        # Parameters

        tokens : `TextFieldTensors`
            B sentences of T words, each with one predicate marked.
        metadata : `list[dict[str, Any]]`
            For each its `words` and `predicate`, and under `tags` the gold tags as strings, where there are any.
        tags : `Tensor`, optional, shape [B, T]
            The gold tags' ids; `UNKNOWN_LABEL` for one that the model has not.

        # Returns

        `dict[str, Any]`
            `logits` [B, T, tags]; `words` and `predicate`; `tags`, for each sentence its predicted tags as strings (not
            while training, where nobody reads them); with gold tags the `loss`, a scalar. Tokens with a tag that the
            model has not count in the metric, as misses, and not in the loss.
        """
        self.require_gold(tags)
        h, _, mask = self.lowest_layers(tokens)
        logits = self.score_tags(h)  # [B, T, tags]
        output: dict[str, Any] = {"logits": logits}
        output |= {name: [sentence[name] for sentence in metadata] for name in ("words", "predicate")}
        if not self.training:
            output["tags"] = self._decode(logits, mask)
        if tags is not None:
            output["loss"] = self._loss(logits, tags, mask) + self.lowest_layers.penalty()
            self._score(output.get("tags"), metadata)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Leaves out the scores: what remains are words, predicate, tags and the loss."""
        output_dict.pop("logits", None)
        return output_dict

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        # Returns

        `dict[str, float]`
            `precision`, `recall` and `f1` over all labels but V; none while training, where nothing is decoded. At the
            end of a pass, `reset`, each label's besides, and what ELMo has learned; AllenNLP shows the others in its
            progress bar, which has no room for more.
        """
        scores = {} if self.training else self._f1.get_metric(reset)
        if reset:
            return scores | self.lowest_layers.describe()
        return {name: value for name, value in scores.items() if "-" not in name}

    def _decode(self, logits: Tensor, mask: Tensor) -> list[list[str]]:
        return [[self.tags[tag] for tag in path] for path in self._viterbi(logits.log_softmax(2), mask)]

    def _loss(self, logits: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """The mean over sentences of the mean negative log-likelihood of their tokens whose tags the model has."""
        known = mask & (tags != UNKNOWN_LABEL) & (tags < len(self.tags))  # [B, T]
        return sequence_cross_entropy_with_logits(logits, tags.where(known, 0), known, average="batch")

    def _score(self, predicted: list[list[str]] | None, metadata: Sequence[dict[str, Any]]) -> None:
        if predicted is not None:
            self._f1(predicted, [sentence["tags"] for sentence in metadata])
