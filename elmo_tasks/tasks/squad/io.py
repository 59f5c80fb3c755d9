"""What the SQuAD predictor takes and returns."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from elmo_tasks.tasks.inputs import Box, Input, Output, Probability, Text


class SquadInput(Input):
    """A question about a passage, both raw text."""

    passage: Annotated[Text, Box("Passage", 4)]
    question: Annotated[Text, Box("Question", 1)]


class Answer(BaseModel):
    """A span of the passage. `passage[start:end]` is its text."""

    model_config = ConfigDict(extra="forbid")

    text: str
    token_start: Annotated[int, Field(ge=0)]
    token_end: Annotated[int, Field(ge=0)]
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    score: float
    probability: Probability


class SquadOutput(Answer, Output):
    """The best answer."""

    question: Text
    n_best: Annotated[
        list[Answer], Field(min_length=1, description="The best answers, best first.")
    ]
