"""SST model: tokens -> h -> biattention -> integrator -> pooling -> a score per label (paper, appendix A.8)."""

from typing import Any

from allennlp.common import Lazy
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from allennlp.training.metrics import CategoricalAccuracy
from torch import Tensor, nn

from elmo_tasks.formats.trees import NAMES
from elmo_tasks.nn.input_encoder import InputEncoder, check_width, construct
from elmo_tasks.nn.precision import at_least_float32
from elmo_tasks.tasks.sst.biattention import MultiPooling, biattend, compare
from elmo_tasks.tasks.sst.head import Head
from elmo_tasks.tasks.task_model import SoftmaxModel

LABELS = "labels"
"""The vocabulary namespace of the labels."""


@Model.register("elmo_tasks_sst", constructor="from_partial_objects")
class SentimentClassifier(SoftmaxModel):
    """
    The biattentive classification network of McCann et al. (2017) with the text as both inputs. The loss of a batch is
    the mean cross-entropy of its texts.

    # Parameters

    - `vocab`: missing labels of the five are added.
    - `input_encoder`: its `elmo_output_encoder` is the paper's second biLSTM, for ELMo at the output.
    - `integrator`: reads h and the output of biattention, three times the width of h.
    - `pool`: of the width of the integrator's output.
    - `head`: the layers after pooling, ReLU or maxout, with five classes.
    - `kwargs`: see `TaskModel`.
    """

    default_predictor = "elmo_tasks_sst"

    def __init__(
        self,
        vocab: Vocabulary,
        input_encoder: InputEncoder,
        *,
        integrator: Seq2SeqEncoder,
        pool: MultiPooling,
        head: Head,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, input_encoder, **kwargs)
        check_width(integrator, 3 * input_encoder.get_output_dim())
        self.labels = complete_labels(vocab)
        self.integrator, self.pool, self.head = integrator, pool, head
        self._accuracy = CategoricalAccuracy()

    @classmethod
    def from_partial_objects(
        cls,
        vocab: Vocabulary,
        input_encoder: InputEncoder,
        *,
        integrator: Lazy[Seq2SeqEncoder],
        head: Lazy[Head],
        pooled_dropout: float = 0.0,
        **kwargs: Any,
    ) -> "SentimentClassifier":
        """From a config; `pooled_dropout` is the dropout after pooling."""
        built = construct(integrator, 3 * input_encoder.get_output_dim())
        pool = MultiPooling(built.get_output_dim(), pooled_dropout)
        layers = head.construct(input_dim=pool.get_output_dim(), classes=len(complete_labels(vocab)))
        return cls(vocab, input_encoder, integrator=built, pool=pool, head=layers, **kwargs)

    def forward(
        self, tokens: TextFieldTensors, metadata: list[dict[str, Any]], label: Tensor | None = None
    ) -> dict[str, Any]:
        """
        # Parameters

        - `tokens`: B texts of T words.
        - `metadata`: for each text its `words`.
        - `label`, [B]: ids of the gold labels.

        Returns `logits` and `probabilities` [B, K], in the order of `labels`; `words`; with gold labels the `loss`, a
        scalar.
        """
        self.require_gold(label)
        return self.answer(self.score(tokens), metadata, label)

    def score(self, tokens: TextFieldTensors, **_: Any) -> dict[str, Tensor]:
        """`logits` [B, K]."""
        h, _, mask = self.input_encoder(tokens)
        integrated = self.integrator(compare(h, biattend(h, mask)), mask)  # [B, T, D]
        return {"logits": at_least_float32(self.head(self.pool(integrated, mask)))}

    def answer(
        self, scores: dict[str, Tensor], metadata: list[dict[str, Any]], label: Tensor | None = None, **_: Any
    ) -> dict[str, Any]:
        """The outputs of `forward`, from `logits`; updates the metric."""
        logits = scores["logits"]  # [B, K]
        probabilities = logits.softmax(1)
        output = {"logits": logits, "probabilities": probabilities, "words": [text["words"] for text in metadata]}
        if label is not None:
            output["loss"] = nn.functional.cross_entropy(logits, label)
            self._accuracy(probabilities, label)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Returns `words`, and for each text its `probabilities` by label and the most probable `label`; the loss. Checks
        the scores with `require_finite`.
        """
        self.require_finite(output_dict.pop("logits"))
        rows = [dict(zip(self.labels, row, strict=True)) for row in output_dict["probabilities"].tolist()]
        output_dict["probabilities"] = rows
        output_dict["label"] = [max(row, key=row.__getitem__) for row in rows]
        return output_dict

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Returns `accuracy`; at the end of a pass (`reset`) also ELMo's learned weights."""
        scores = {"accuracy": self._accuracy.get_metric(reset)}
        return scores | self.input_encoder.describe() if reset else scores


def complete_labels(vocab: Vocabulary) -> list[str]:
    """
    Adds the labels that do not occur in the data to the vocabulary, and returns all labels in the order of their ids.
    AllenNLP saves the vocabulary, and indexes the data, after constructing the model.
    """
    for label in NAMES:
        vocab.add_token_to_namespace(label, LABELS)
    return list(vocab.get_token_to_index_vocabulary(LABELS))
