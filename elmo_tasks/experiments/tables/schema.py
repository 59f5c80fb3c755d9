"""The schema of a table's Jsonnet file, which training_config/tables/rows.libsonnet describes."""

import os
from math import inf
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from elmo_tasks.formats.corpora import located
from elmo_tasks.training.seeds import SEEDS

VOTES = "votes"
PASSES = "passes"
"""The metric of a cell that shows the first epoch in which a row is better than the best epoch of another row."""
PERCENT = ("f1", "accuracy", "em")
"""Metrics between 0 and 1 that tables show in percent."""

Split = Literal["dev", "test"]


class Strict(BaseModel):
    """Rejects unknown keys and does not convert types; `null` is the same as no value."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, given: Any) -> Any:
        return {key: value for key, value in given.items() if value is not None} if isinstance(given, dict) else given


class Paper(Strict):
    """The paper's result in a cell: a number with an optional deviation, or words. A plain number is its mean."""

    mean: float | None = None
    deviation: float | None = None
    says: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_number(cls, given: Any) -> Any:
        return {"mean": given} if isinstance(given, int | float) else given


class Ensemble(Strict):
    """The runs of the row `of` with the seeds 1 to `members`, and how they are combined."""

    of: str
    members: int = Field(ge=2)
    how: Literal["probabilities", "votes"] = "probabilities"


class Cell(Strict):
    """
    One cell of the table. Its metric is a score of the row's runs, or `passes`: the first epoch in which the row's run
    is better than the best epoch of the row `over`, compared seed by seed.
    """

    column: str
    metric: str
    paper: Paper | None = None
    over: str | None = None

    @model_validator(mode="after")
    def _check_over(self) -> "Cell":
        if (self.metric == PASSES) != (self.over is not None):
            raise ValueError(f"metric {PASSES!r} and the key over, the other row, need each other")
        return self


class Row(Strict):
    """A base config, the keys that a row changes, and the cells that show its scores."""

    name: str = Field(pattern=r"^[\w.+=-]{1,100}$")
    config: Path = Field(strict=False)
    row_label: str
    cells: list[Cell] = Field(min_length=1)
    changes: dict[str, Any] = {}
    split: Split = "dev"
    paper_split: Split = "dev"
    file: str | None = None
    needs: list[str] = []
    minutes: float | None = Field(None, gt=0, lt=inf)
    fraction: float | None = Field(None, gt=0, lt=inf)
    seed_keys: list[str] = Field(list(SEEDS), min_length=1)
    finetune: bool = False
    ensemble: Ensemble | None = None
    bilm_of: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _normalize(cls, given: Any) -> Any:
        """`column`, `metric` and `paper` stand for a single cell."""
        if not isinstance(given, dict):
            return given
        row = dict(given)
        cell = {key: row.pop(key) for key in ("column", "metric", "paper") if key in row}
        row["cells"] = row.get("cells") or [cell]
        return {"row_label": row.get("name")} | row

    @model_validator(mode="after")
    def _check_split(self) -> "Row":
        if self.split == "test" and self.file is None:
            raise ValueError("split test needs the key file, the data to evaluate")
        return self

    @property
    def missing(self) -> list[str]:
        """The files that the row needs and that do not exist."""
        return [
            file for file in [*self.needs, *([self.file] if self.file else [])] if not os.path.exists(located(file))
        ]

    @property
    def once(self) -> bool:
        """Whether it has one run, whatever the number of seeds."""
        return self.finetune or self.ensemble is not None

    def seeds(self, count: int) -> range:
        """The seeds of its runs in a table with `count` seeds."""
        return range(1, 2 if self.once else count + 1)

    @property
    def others(self) -> list[str]:
        """The rows whose runs it needs."""
        return [name for name in (self.bilm_of, self.ensemble and self.ensemble.of) if name]


class Increase(Strict):
    """Show the increase over the column `over`: of the column `of`, or of each other column."""

    over: str
    of: str | None = None


class Table(Strict):
    """A whole table at a scale; the figure `share` has its scores over the fraction of the training data."""

    title: str
    scale: Literal["mini", "small", "paper"]
    about: str = ""
    rows: list[Row] = Field(min_length=1)
    increase: Increase | None = None
    figure: Literal["share"] | None = None

    @property
    def columns(self) -> list[str]:
        """In order of first appearance."""
        return list(dict.fromkeys(cell.column for row in self.rows for cell in row.cells))

    @property
    def row_labels(self) -> list[str]:
        """In order of first appearance."""
        return list(dict.fromkeys(row.row_label for row in self.rows))

    def row(self, name: str) -> Row:
        """The row with this name."""
        return next(row for row in self.rows if row.name == name)
