"""
SNLI predictor: a premise and a hypothesis -> a label, probabilities and attention.
"""

from typing import Annotated

from allennlp.predictors import Predictor
from pydantic import Field

from elmo_tasks.tasks.inputs import Box, Input, Output, Probability, TextOrWords, Words
from elmo_tasks.tasks.predictor import PairPredictor

Attention = Annotated[
    list[list[Probability]],
    Field(
        description="A row for each word, of weights over the words of the other"
        " sentence; for the first 40 words of each."
    ),
]


class SnliInput(Input):
    """Two sentences, each raw text or a list of words."""

    premise: Annotated[TextOrWords, Box("Premise", 2)]
    hypothesis: Annotated[TextOrWords, Box("Hypothesis", 2)]


class SnliOutput(Output):
    """The label of the pair."""

    label: str
    probabilities: dict[str, Probability]
    premise: Words
    hypothesis: Words
    premise_attention: Attention
    hypothesis_attention: Attention


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
