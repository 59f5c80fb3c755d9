"""
SNLI predictor: a premise and a hypothesis -> a label, probabilities and attention.
"""

from typing import Any

from allennlp.data import Instance
from allennlp.predictors import Predictor
from overrides import overrides

from elmo_tasks.tasks.predictor import PairPredictor, with_label
from elmo_tasks.tasks.snli.io import SnliInput, SnliOutput


@Predictor.register("elmo_tasks_snli")
class SnliPredictor(PairPredictor):
    """
    Input: `{"premise": ..., "hypothesis": ...}`, each raw text or a list of words.
    Output:

    - `label`, and `probabilities` by label;
    - the words of `premise` and `hypothesis`;
    - `premise_attention`, for each word of the premise its weights over the words of
      the hypothesis, and `hypothesis_attention`, the reverse.
    """

    takes = SnliInput
    returns = SnliOutput
    gold_fields = ("label",)

    @overrides
    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, Any]
    ) -> list[Instance]:
        """The instance with the prediction as its gold answer, for AllenNLP's Interpret."""
        return [with_label(instance, outputs["label"], self._model.vocab)]
