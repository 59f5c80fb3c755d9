"""What the coreference predictor takes and returns."""

from typing import Annotated

from pydantic import Field

from elmo_tasks.tasks.inputs import Box, Input, Output, Sentences, Span, Text

Speakers = Annotated[Sentences, Field(description="Of each word of each sentence.")]
Clusters = Annotated[
    list[list[Span]], Field(description="Mentions of the same person or thing.")
]


class CorefInput(Input):
    """A document as raw text, or the words of its sentences."""

    either = ("text", "sentences")

    text: Annotated[Text, Box("Text", 4)] = None  # type: ignore[assignment]
    sentences: Annotated[Sentences, Box("Words, one sentence per line", 6, "lines")] = (
        None  # type: ignore[assignment]
    )
    speakers: Speakers = None  # type: ignore[assignment]
    genre: Text = None  # type: ignore[assignment]


class CorefOutput(Output):
    """The clusters of a document."""

    sentences: Sentences
    clusters: Clusters
