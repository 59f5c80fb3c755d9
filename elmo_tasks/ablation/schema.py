"""What a table's Jsonnet file may hold: keys and types are checked by these classes, a config's by constructors."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from allennlp.common import FromParams

from elmo_tasks.checks import object_problems

VOTES, PROBABILITIES = "votes", "probabilities"


@dataclass(frozen=True)
class Paper(FromParams):
    """What the paper has in a cell: a number, perhaps with a deviation, or words."""

    mean: float | None = None
    deviation: float | None = None
    says: str | None = None


@dataclass(frozen=True)
class Ensemble(FromParams):
    """The runs of the row `of` with the seeds 1 to `members`, and how they come to one answer."""

    of: str
    members: int
    how: str = PROBABILITIES


@dataclass(frozen=True)
class Cell(FromParams):
    """One of several cells of a row."""

    column: str
    metric: str
    paper: float | Paper | None = None
    over: str | None = None


@dataclass(frozen=True)
class Row(FromParams):
    """A row with `cells`, or with `column`, `metric` and `paper` of its one cell."""

    name: str
    config: str
    line: str | None = None
    column: str | None = None
    metric: str | None = None
    paper: float | Paper | None = None
    cells: list[Cell] | None = None
    changes: dict[str, Any] | None = None
    split: str | None = None
    paper_split: str | None = None
    file: str | None = None
    needs: list[str] | None = None
    minutes: float | None = None
    x: float | None = None
    seed_keys: list[str] | None = None
    finetune: bool | None = None
    ensemble: Ensemble | None = None
    bilm_of: str | None = None


@dataclass(frozen=True)
class Increase(FromParams):
    """The column `over` which increases are shown: that of the column `of`, or those of all others."""

    over: str
    of: str | None = None


@dataclass(frozen=True)
class Table(FromParams):
    """The whole file."""

    rows: list[Row]
    title: str | None = None
    about: str | None = None
    increase: Increase | None = None
    figure: str | None = None


def form_problems(given: Any) -> Iterator[str]:
    """What is wrong with the keys of a file and with their types, and what a row lacks."""
    for problem in object_problems("", given, Table, frozenset()):
        kind, _, rest = problem.path.partition(".")
        place, _, key = rest.partition(".")
        if kind == "rows" and place:
            yield f"row {_name(given['rows'][int(place)], place)}: {replace(problem, path=key or 'the row')}"
        else:
            yield str(replace(problem, path=problem.path or "the table"))


def _name(row: Any, place: str) -> str:
    name = row.get("name") if isinstance(row, dict) else None
    return name if isinstance(name, str) else place
