"""
The tabs of `elmo-tasks serve` for models of AllenNLP, by the registered name of the
predictor: a form for its input.
"""

from elmo_tasks.tasks.inputs import Box


def _text(title: str, rows: int = 2) -> Box:
    return Box(title, rows, "text")


def _page(title: str, **boxes: Box) -> tuple[str, dict[str, Box]]:
    """A tab with these text fields, by the keys of the input."""
    return title, boxes


SENTENCE = _text("Sentence")

PAGES: dict[str, tuple[str, dict[str, Box]]] = {
    "biaffine_dependency_parser": _page("Dependencies", sentence=SENTENCE),
    "constituency_parser": _page("Constituents", sentence=SENTENCE),
    "coreference_resolution": _page(
        "Coreference (AllenNLP)", document=_text("Document", 6)
    ),
    "masked_language_model": _page("Masked words", sentence=SENTENCE),
    "next_token_lm": _page("Next words", sentence=SENTENCE),
    "open_information_extraction": _page("Open IE", sentence=SENTENCE),
    "reading_comprehension": _page(
        "Questions (AllenNLP)",
        passage=_text("Passage", 6),
        question=_text("Question", 1),
    ),
    "semantic_role_labeling": _page("Roles (AllenNLP)", sentence=SENTENCE),
    "sentence_tagger": _page("Tags (AllenNLP)", sentence=SENTENCE),
    "seq2seq": _page("Generation", source=_text("Source", 4)),
    "text_classifier": _page("Classes (AllenNLP)", sentence=SENTENCE),
    "textual_entailment": _page(
        "Entailment (AllenNLP)",
        premise=_text("Premise", 1),
        hypothesis=_text("Hypothesis", 1),
    ),
    "transformer_mc": _page(
        "Choices",
        prefix=Box("Prefix", 1, "line"),
        alternatives=Box("Alternatives, one in each line", 3, "texts"),
    ),
    "transformer_qa": _page(
        "Questions (transformer)",
        context=_text("Context", 6),
        question=_text("Question", 1),
    ),
}
