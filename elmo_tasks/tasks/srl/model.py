"""SRL model: words and predicate -> h -> a distribution over tags -> BIO tags (paper, appendix A.5)."""

from typing import Any

from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.nn.util import sequence_cross_entropy_with_logits
from torch import Tensor, nn

from elmo_tasks.errors import InputError
from elmo_tasks.nn.input_encoder import NOTHING_LEFT, InputEncoder
from elmo_tasks.tasks.labels import UNKNOWN_LABEL, complete_labels
from elmo_tasks.tasks.srl.decoding import BioViterbi
from elmo_tasks.tasks.srl.metric import SrlF1
from elmo_tasks.tasks.tagger import Tagger
from elmo_tasks.tasks.task_model import SoftmaxModel

INDICATOR = "predicate"
"""The text field's key of the predicate indicator."""


@Model.register("elmo_tasks_srl")
class SrlTagger(Tagger, SoftmaxModel):
    """
    One dense layer with softmax on the encoder's output. The predicate indicator is embedded like the words, under the
    text field's key `predicate`.

    The loss of a batch is the mean over its sentences of the gold tags' negative log-likelihood. At test time, Viterbi
    decoding finds the most probable legal BIO sequence.

    # Parameters

    - `sum_token_losses`: whether the loss of a sentence is the sum over its tokens, as in He et al.'s code, or the
      mean, as in AllenNLP. With the sum, clip the norm of the gradient (`grad_norm`): with `grad_clipping`, Adadelta
      diverges.
    - `kwargs`: see `TaskModel`.

    Raises `InputError` if the predicate indicator would be the encoder's only input.
    """

    default_predictor = "elmo_tasks_srl"
    shown = ("words", "predicate")

    def __init__(
        self, vocab: Vocabulary, input_encoder: InputEncoder, *, sum_token_losses: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(vocab, input_encoder, **kwargs)
        _require_words(self.input_encoder)
        self.tags = complete_labels(vocab)
        self.score_tags = nn.Linear(self.input_encoder.get_output_dim(), len(self.tags))
        nn.init.orthogonal_(self.score_tags.weight)
        nn.init.zeros_(self.score_tags.bias)
        self._sum_token_losses = sum_token_losses
        self._viterbi = BioViterbi(self.tags)
        self.f1 = SrlF1()

    def decode(self, logits: Tensor, mask: Tensor) -> list[list[str]]:
        return [[self.tags[tag] for tag in path] for path in self._viterbi(logits.log_softmax(2), mask)]

    def loss(self, logits: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Tokens whose gold tag is not in the vocabulary are left out."""
        known = mask & (tags != UNKNOWN_LABEL) & (tags < len(self.tags))  # [B, T]
        tags = tags.where(known, 0)
        if not self._sum_token_losses:
            return sequence_cross_entropy_with_logits(logits, tags, known, average="batch")
        losses = nn.functional.cross_entropy(logits.transpose(1, 2), tags, reduction="none")  # [B, T]
        return losses.where(known, 0.0).sum(1).mean()


def _require_words(layers: InputEncoder) -> None:
    has_elmo = layers.elmo is not None and layers.elmo.has_input
    embedder = layers.embedder
    if not has_elmo and isinstance(embedder, BasicTextFieldEmbedder) and set(embedder._token_embedders) == {INDICATOR}:
        raise InputError(NOTHING_LEFT)
