"""
The record of a task: all that the plugin, the tables, the page, the adapters and the
tests know of it.
"""

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, NamedTuple


class Page(NamedTuple):
    """
    A tab of the page of `elmo-tasks serve`.

    The server rejects inputs beyond the `limits`, by the names that
    `JsonLinesPredictor.sizes` gives. They bound the memory of a prediction by the model
    of the paper: docs/RELIABILITY.md has the measurements.
    """

    title: str
    about: str
    drawing: str  # one of the `DRAWINGS` of web/static/page.js
    fields: tuple[tuple[str, str, int], ...] = (
        ("sentence", "Sentence", 2),
    )  # key, name and rows of each text
    limits: dict[str, int] = {"words": 2000}
    attention: int | None = None  # words of each text whose attention is drawn and sent


@dataclass(frozen=True)
class Task:
    """
    A task of a package, of which the plugin imports every module. The package's
    `examples.json` has inputs of its predictor.

    # Parameters

    - `package`: such as `elmo_tasks.tasks.squad`.
    - `name`: of its configs, and after `elmo_tasks_` of its reader, model and
      predictor.
    - `title`, `metric`: the task and its score, as tables name them.
    - `sample`: a file of a few instances below `fixtures/`.
    - `paper`: Table 1 without and with ELMo, each a number or `{"mean": ...,
      "deviation": ...}`.
    - `minutes`: of a training on one CPU core at `mini` and at `small`, each without
      and with ELMo; the layers are cached.
    - `spacy`: what the spaCy component predicts at a time, if it can set the output.
    """

    package: str
    name: str
    title: str
    metric: str
    sample: str
    page: Page
    paper: tuple[Any, Any] | None = None
    minutes: tuple[tuple[float, float], tuple[float, float]] | None = None
    spacy: Literal["sentence", "document"] | None = None

    @property
    def examples(self) -> list[dict[str, Any]]:
        """Inputs of the predictor."""
        found: list[dict[str, Any]] = json.loads(
            files(self.package).joinpath("examples.json").read_text("utf-8")
        )
        return found
