"""What the tagger, and NER, its preset, take and return."""

from typing import Annotated

from pydantic import Field

from elmo_tasks.tasks.inputs import Output, SentenceInput, Span, Words

Offset = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=2, max_length=2)]


class TaggerInput(SentenceInput):
    """A sentence."""


class Entity(Span):
    """A part of the sentence with a type."""

    type: str


class TaggerOutput(Output):
    """A tag for each word."""

    tokens: Words
    tags: list[str]
    offsets: Annotated[
        list[Offset], Field(description="Start and end of each word, for raw text.")
    ] = []
    entities: Annotated[
        list[Entity], Field(description="If the tags encode spans.")
    ] = []
