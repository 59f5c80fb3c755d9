"""
SST model: tokens -> h -> biattention -> integrator -> pooling -> a score per label
(paper, appendix A.8).
"""

from typing import Any

import torch
from allennlp.common import Lazy
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from torch import Tensor

from elmo_tasks.formats.annotation.trees import NAMES
from elmo_tasks.nn.input_encoder import InputEncoder, LazyEncoder, construct
from elmo_tasks.nn.linear import at_least_float32
from elmo_tasks.settings import Probability, checked
from elmo_tasks.tasks.classifier import Classifier
from elmo_tasks.tasks.reader import complete_labels
from elmo_tasks.tasks.sst.layers import Head, MultiPooling, biattend


@Model.register("elmo_tasks_sst")
class SentimentClassifier(Classifier):
    """
    Sentiment (paper, A.8): the biattentive classification network of McCann et al.
    (2017) with the text as both inputs. The loss of a batch is the mean cross-entropy
    of its texts.

    # Parameters

    - `vocab`: missing labels of the five are added.
    - `input_encoder`: its `elmo_output_encoder` is the paper's second biLSTM, for ELMo
      at the output.
    - `integrator`: encodes h combined with the output of biattention, which together
      have three times the width of h.
    - `head`: the feed-forward layers after pooling.
    - `pooled_dropout`: dropout on the pooled vector.
    - `kwargs`: see `TaskModel`.
    """

    default_predictor = "elmo_tasks_sst"

    @checked
    def __init__(
        self,
        vocab: Vocabulary,
        input_encoder: InputEncoder,
        *,
        integrator: LazyEncoder,
        head: Lazy[Head],
        pooled_dropout: Probability = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, input_encoder, **kwargs)
        self.labels = complete_labels(vocab, NAMES)
        self.integrator = construct(integrator, 3 * input_encoder.get_output_dim())
        self.pool = MultiPooling(self.integrator.get_output_dim(), pooled_dropout)
        self.head = head.construct(
            input_dim=self.pool.get_output_dim(), classes=len(self.labels)
        )

    def score(self, tokens: TextFieldTensors, **_: Any) -> dict[str, Tensor]:
        """`logits` [B, K] of B texts of T words."""
        h, _, mask = self.input_encoder(tokens)
        attended = biattend(h, mask)  # [B, T, D]
        compared = torch.cat([h, h - attended, h * attended], -1)  # [B, T, 3D]
        integrated = self.integrator(compared, mask)  # [B, T, E]
        return {"logits": at_least_float32(self.head(self.pool(integrated, mask)))}
