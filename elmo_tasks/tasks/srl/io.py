"""What the SRL predictor takes and returns."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from elmo_tasks.tasks.inputs import Box, Output, SentenceInput, Span, Words

Index = Annotated[int, Field(ge=0)]
Indices = Annotated[
    list[Index],
    Field(
        description="Numbers of words; without them, words that were a predicate in"
        " the training data."
    ),
]


class SrlInput(SentenceInput):
    """A sentence, and which of its words are predicates."""

    predicates: Annotated[
        Indices, Box("Numbers of the predicates, from 0", 1, "numbers")
    ] = None  # type: ignore[assignment]


class Argument(Span):
    """A part of the sentence with a role."""

    label: str


class Frame(BaseModel):
    """A predicate and its arguments."""

    model_config = ConfigDict(extra="forbid")

    predicate: Index
    verb: str
    tags: list[str]
    arguments: list[Argument]


class SrlOutput(Output):
    """A frame for each predicate."""

    tokens: Words
    frames: list[Frame]
