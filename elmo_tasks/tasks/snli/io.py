"""What the SNLI predictor takes and returns."""

from typing import Annotated

from pydantic import Field

from elmo_tasks.tasks.inputs import Box, Input, Output, Probability, TextOrWords, Words

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
