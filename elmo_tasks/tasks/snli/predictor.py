"""SNLI predictor: a premise and a hypothesis -> a label, probabilities and attention."""

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor

from elmo_tasks.tasks.predictor import PairPredictor

_SHOWN = ("label", "probabilities", "premise", "hypothesis", "premise_attention", "hypothesis_attention")


@Predictor.register("elmo_tasks_snli")
class SnliPredictor(PairPredictor):
    """
    Input: `{"premise": ..., "hypothesis": ...}`, each raw text or a list of words. Output:

    - `label`, and `probabilities` by label;
    - the words of `premise` and `hypothesis`;
    - `premise_attention`, for each word of the premise its weights over the words of the hypothesis, and
      `hypothesis_attention`, the reverse.
    """

    keys = ("premise", "hypothesis")
    gold_fields = ("label",)

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        return {name: outputs[name] for name in _SHOWN}
