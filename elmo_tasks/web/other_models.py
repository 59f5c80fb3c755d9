"""
The tabs of models that are not of this package, by the registered name of AllenNLP's
predictor: a form for its input, and its output as JSON.
"""

from typing import Any, NamedTuple

from elmo_tasks.tasks import TASKS
from elmo_tasks.tasks.task import Example, Page, Task

_OBJECT = {"type": "object"}


class OtherModels(NamedTuple):
    """What the server knows of the models that have a predictor."""

    page: Page
    examples: tuple[Example, ...] = ()
    schema: dict[str, Any] = {"input": _OBJECT, "output": _OBJECT}


def _other(title: str, **fields: int) -> OtherModels:
    """A tab with a text of so many rows for each key of the input."""
    named = []
    for key, rows in fields.items():
        named.append((key, key.capitalize(), rows))
    about = "A model of AllenNLP. The answer is what its predictor returns."
    return OtherModels(Page(title, about, "json", fields=tuple(named), limits={}))


OTHERS: dict[str, OtherModels] = {
    "biaffine_dependency_parser": _other("Dependencies", sentence=2),
    "constituency_parser": _other("Constituents", sentence=2),
    "coreference_resolution": _other("Coreference (AllenNLP)", document=6),
    "masked_language_model": _other("Masked words", sentence=2),
    "next_token_lm": _other("Next words", sentence=2),
    "open_information_extraction": _other("Open IE", sentence=2),
    "reading_comprehension": _other("Questions (AllenNLP)", passage=6, question=1),
    "semantic_role_labeling": _other("Roles (AllenNLP)", sentence=2),
    "sentence_tagger": _other("Tags (AllenNLP)", sentence=2),
    "seq2seq": _other("Generation", source=4),
    "text_classifier": _other("Classes (AllenNLP)", sentence=2),
    "textual_entailment": _other("Entailment (AllenNLP)", premise=1, hypothesis=1),
    "transformer_mc": OtherModels(
        Page(
            "Choices",
            "A model of AllenNLP. The answer is what its predictor returns.",
            "json",
            fields=(),
            words=(
                ("prefix", "Prefix", 1, "text"),
                ("alternatives", "Alternatives, one in each line", 3, "texts"),
            ),
            limits={},
        )
    ),
    "transformer_qa": _other("Questions (transformer)", context=6, question=1),
}


def record_of(name: str) -> Task | OtherModels:
    """What the server knows of a task, or of the models that have a predictor."""
    return TASKS.get(name) or OTHERS[name]
