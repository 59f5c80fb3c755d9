"""
The record of a task: all that the plugin, the tables, the page, the adapters and the
tests know of it.
"""

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:  # which most commands do not need
    from elmo_tasks.tasks.inputs import Input, Output
    from elmo_tasks.tasks.predictor import JsonLinesPredictor


class Example(NamedTuple):
    """An input of a predictor, and what is right, if that is known."""

    input: dict[str, Any]
    gold: dict[str, Any] | None = None
    """In the form of the predictor's output, without what only a model has."""


class Page(NamedTuple):
    """
    A tab of the page of `elmo-tasks serve`.

    The server rejects inputs beyond the `limits`, by the names that
    `JsonLinesPredictor.sizes` gives. They bound the memory of a prediction by the model
    of the paper; the page Performance has the measurements.
    """

    title: str
    about: str
    drawing: str  # one of the `DRAWINGS` of web/static/page.js
    limits: dict[str, int] = {"words": 2000}
    attention: int | None = None  # words of each text whose attention is drawn and sent


@dataclass(frozen=True)
class Task:
    """
    A task. Its package contains the modules that the plugin imports, and an
    `examples.json` with inputs for the predictor and their gold answers.

    # Parameters

    - `package`: name of the package, such as `elmo_tasks.tasks.squad`.
    - `name`: name of its configs. Its reader, model and predictor are registered as
      `elmo_tasks_NAME`.
    - `title`, `metric`: the task and its score, as tables name them, the paper's Table 1
      included.
    - `sample`: a file of a few instances below `fixtures/`.
    - `paper`: whether it is one of the paper's six, with configs at all scales.
    - `has_gold`: true if the examples' gold answers fit every model of the task; false
      if each model has its own labels.
    - `spacy`: the unit for which the spaCy component predicts, a sentence or a
      document; `None` if spaCy has no place for the output.
    """

    package: str
    name: str
    title: str
    metric: str
    sample: str
    page: Page
    paper: bool = False
    has_gold: bool = True
    spacy: Literal["sentence", "document"] | None = None

    @property
    def examples(self) -> list[Example]:
        """Inputs of the predictor and their gold answers."""
        found = []
        file = files(self.package).joinpath("examples.json")
        for one in json.loads(file.read_text("utf-8")):
            gold = None
            if self.has_gold:
                gold = one.get("gold")
            found.append(Example(one["input"], gold))
        return found

    @property
    def predictor(self) -> "type[JsonLinesPredictor]":
        """The class of its predictor, which the plugin has registered."""
        from allennlp.predictors import Predictor

        found: type[JsonLinesPredictor] = Predictor.by_name(f"elmo_tasks_{self.name}")
        return found

    @property
    def input(self) -> "type[Input]":
        """What the predictor takes; its fields are also the page's form."""
        return self.predictor.takes

    @property
    def output(self) -> "type[Output]":
        """What the predictor returns."""
        return self.predictor.returns
