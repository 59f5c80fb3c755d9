"""
The tabs of models that are not of this package, by the registered name of AllenNLP's
predictor: a form for its input, and its output as JSON.
"""

from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from elmo_tasks.tasks import TASKS
from elmo_tasks.tasks.inputs import Box
from elmo_tasks.tasks.task import Example, Page, Task


class AnyObject(BaseModel):
    """An object, which the predictor itself checks, or makes."""

    model_config = ConfigDict(extra="allow")


class OtherModels(NamedTuple):
    """What the server knows of the models that have a predictor."""

    page: Page
    boxes: tuple[tuple[str, Box], ...]
    examples: tuple[Example, ...] = ()
    input: type[BaseModel] = AnyObject
    output: type[BaseModel] = AnyObject


def _other(title: str, **boxes: Box) -> OtherModels:
    """A tab with these text fields, by the keys of the input."""
    about = "A model of AllenNLP. The answer is what its predictor returns."
    page = Page(title, about, "json", limits={}, attention=40)
    return OtherModels(page, tuple(boxes.items()))


def _text(title: str, rows: int = 2) -> Box:
    return Box(title, rows, "text")


SENTENCE = _text("Sentence")

OTHERS: dict[str, OtherModels] = {
    "biaffine_dependency_parser": _other("Dependencies", sentence=SENTENCE),
    "constituency_parser": _other("Constituents", sentence=SENTENCE),
    "coreference_resolution": _other(
        "Coreference (AllenNLP)", document=_text("Document", 6)
    ),
    "masked_language_model": _other("Masked words", sentence=SENTENCE),
    "next_token_lm": _other("Next words", sentence=SENTENCE),
    "open_information_extraction": _other("Open IE", sentence=SENTENCE),
    "reading_comprehension": _other(
        "Questions (AllenNLP)",
        passage=_text("Passage", 6),
        question=_text("Question", 1),
    ),
    "semantic_role_labeling": _other("Roles (AllenNLP)", sentence=SENTENCE),
    "sentence_tagger": _other("Tags (AllenNLP)", sentence=SENTENCE),
    "seq2seq": _other("Generation", source=_text("Source", 4)),
    "text_classifier": _other("Classes (AllenNLP)", sentence=SENTENCE),
    "textual_entailment": _other(
        "Entailment (AllenNLP)",
        premise=_text("Premise", 1),
        hypothesis=_text("Hypothesis", 1),
    ),
    "transformer_mc": _other(
        "Choices",
        prefix=Box("Prefix", 1, "line"),
        alternatives=Box("Alternatives, one in each line", 3, "texts"),
    ),
    "transformer_qa": _other(
        "Questions (transformer)",
        context=_text("Context", 6),
        question=_text("Question", 1),
    ),
}


def record_of(name: str) -> Task | OtherModels:
    """What the server knows of a task, or of the models that have a predictor."""
    return TASKS.get(name) or OTHERS[name]
