"""
SNLI predictor: a premise and a hypothesis -> a label, probabilities and attention.
"""

from allennlp.predictors import Predictor

from elmo_tasks.tasks.predictor import PairPredictor
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
