"""
What predictors take, as pydantic models: from one place come the check of an input, the
form of the page, and the description of the HTTP interface. Light: without AllenNLP.
"""

import json
from collections.abc import Collection
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from elmo_tasks.errors import InputError, shown
from elmo_tasks.settings import Text, expectation

Kind = Literal["text", "words", "lines", "numbers", "line", "texts"]


class Box(NamedTuple):
    """
    A text field of the page's form. The field of a `text` belongs to the form for text,
    all others to the form for words: `words` between blanks, `lines` of words,
    `numbers` between blanks, one `line`, or `texts`, one a line.
    """

    title: str
    rows: int
    kind: Kind = "text"


def _is_json(value: Any) -> Any:
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        raise PydanticCustomError("json", "a value of JSON") from None
    return value


Words = Annotated[list[Text], Field(min_length=1, fail_fast=True)]
Sentences = Annotated[list[Words], Field(min_length=1, fail_fast=True)]


def _text_or_words(value: Any) -> str:
    if isinstance(value, list):
        return "words"
    return "text"


TextOrWords = Annotated[
    Annotated[Text, Tag("text")] | Annotated[Words, Tag("words")],
    Discriminator(_text_or_words),
]
Identifier = Annotated[
    Any, AfterValidator(_is_json), Field(description="Copied to the answer.")
]


class Input(BaseModel):
    """
    An input of a predictor. No value is converted, unknown keys are rejected, and a key
    that is not `required` is absent rather than null. A subclass names in `either` the
    keys of which an input has exactly one.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    either: ClassVar[tuple[str, ...]] = ()

    id: Identifier = None

    @model_validator(mode="after")
    def _require_one(self) -> Self:
        if self.either:
            given = self.model_fields_set.intersection(self.either)
            if len(given) != 1:
                names = " or ".join([repr(name) for name in self.either])
                raise PydanticCustomError("either", f"either {names}")
        return self

    @classmethod
    def boxes(cls) -> list[tuple[str, Box]]:
        """The keys that the page's form has, each with its text field."""
        found = []
        for key, field in cls.model_fields.items():
            for part in field.metadata:
                if isinstance(part, Box):
                    found.append((key, part))
        return found


class SentenceInput(Input):
    """A sentence as raw text, or its words."""

    either = ("sentence", "tokens")

    sentence: Annotated[Text, Box("Sentence", 2)] = None  # type: ignore[assignment]
    tokens: Annotated[Words, Box("Words, separated by blanks", 2, "words")] = None  # type: ignore[assignment]


class Output(BaseModel):
    """What a predictor returns. It describes answers and does not check them."""

    model_config = ConfigDict(extra="forbid")

    id: Identifier = None


class Span(BaseModel):
    """A part of a text: its tokens, and its characters if the input was raw text."""

    model_config = ConfigDict(extra="forbid")

    text: str
    token_start: Annotated[int, Field(ge=0)]
    token_end: Annotated[int, Field(ge=0)]
    start: Annotated[int, Field(ge=0)] = 0
    end: Annotated[int, Field(ge=0)] = 0


Probability = Annotated[float, Field(ge=0, le=1)]

AnyInput = TypeVar("AnyInput", bound=Input)


def read_input(kind: type[AnyInput], given: Any) -> AnyInput:
    """
    The input of a predictor in JSON. Raises `InputError` that names the first invalid
    key.
    """
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputError(problem_of(first, kind.model_fields)) from None


def problem_of(first: ErrorDetails, known: Collection[str]) -> str:
    """
    What is wrong with an input with these `known` keys, by pydantic's first error.
    """
    key = ""
    if first["loc"]:
        key = repr(first["loc"][0])
    if first["type"] == "extra_forbidden":
        names = ", ".join(sorted(known))
        return f"expected an object with keys among {names}, got the key {key}"
    if first["type"] == "missing":
        return f"expected the key {key}, got {shown(first['input'])}"
    indices = [f"[{part}]" for part in first["loc"] if isinstance(part, int)]
    key += "".join(indices)
    if key:
        key += ": "
    return f"{key}expected {expectation(first)}, got {shown(first['input'])}"
