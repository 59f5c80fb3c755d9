"""What the SST predictor takes and returns."""

from elmo_tasks.tasks.inputs import Output, Probability, SentenceInput, Words


class SstInput(SentenceInput):
    """A sentence."""


class SstOutput(Output):
    """How much the writer likes it."""

    tokens: Words
    label: str
    probabilities: dict[str, Probability]
