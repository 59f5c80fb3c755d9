"""First step: a table's Jsonnet file -> rows, checked. training_config/lib/ablation.libsonnet explains the form."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import inf
from pathlib import Path
from typing import Any

from allennlp.common import Params

from elmo_tasks.ablation.nearest import not_known
from elmo_tasks.ablation.schema import PROBABILITIES, VOTES, Ensemble, Increase, Paper, form_problems
from elmo_tasks.compat.seeds import SEEDS
from elmo_tasks.compat.terminal import one_line
from elmo_tasks.errors import InputError

DEV, TEST = "dev", "test"
PERCENT = ("f1", "accuracy", "em")
"""Metrics between 0 and 1 that tables show in percent."""

PROJECT = Path(__file__).resolve().parents[2]
"""The source tree, whose `training_config` tables may name; an installation has none."""

PASSES = "passes"
"""The metric of a cell that has the first epoch in which a row is better than the best of another."""

LONGEST_NAME = 100


@dataclass(frozen=True)
class Cell:
    """
    One place of the table.

    # Parameters

    column : `str`
    metric : `str`
        A score of the row's runs, or `passes`: the first epoch in which the row's run is better than the best of the
        row `over`, seed by seed.
    paper : `Paper`, optional
    over : `str`, optional
    """

    column: str
    metric: str
    paper: Paper | None = None
    over: str | None = None


@dataclass(frozen=True)
class Row:
    """A named row: a base config, the keys it changes, and where its scores stand."""

    name: str
    configs: tuple[Path, ...]
    line: str
    cells: tuple[Cell, ...]
    changes: dict[str, Any] = field(default_factory=dict)
    split: str = DEV
    paper_split: str = DEV
    file: str | None = None
    needs: tuple[str, ...] = ()
    minutes: float | None = None
    x: float | None = None
    seed_keys: tuple[str, ...] = SEEDS
    finetune: bool = False
    ensemble: Ensemble | None = None
    bilm_of: str | None = None

    @property
    def config(self) -> Path | None:
        """The base config: the first of `configs` that is a file; None where none is."""
        return next((path for path in self.configs if path.is_file()), None)

    @property
    def missing(self) -> list[str]:
        """The needed files, and that which is scored, that are not there."""
        files = [*self.needs, *([self.file] if self.file else [])]
        return [file for file in files if not os.path.exists(file)]

    @property
    def once(self) -> bool:
        """Whether it has one run, however many seeds the others have."""
        return self.finetune or self.ensemble is not None

    @property
    def others(self) -> list[str]:
        """The rows whose runs it cannot do without."""
        return [name for name in (self.bilm_of, self.ensemble and self.ensemble.of) if name]


@dataclass(frozen=True)
class Table:
    """
    # Parameters

    name : `str`
        The file's, without its ending.
    title, about : `str`
    rows : `tuple[Row, ...]`
    increase : `Increase`, optional
    figure : `str`, optional
        `share`: scores over the share of the training data.
    """

    name: str
    title: str
    about: str
    rows: tuple[Row, ...]
    increase: Increase | None = None
    figure: str | None = None

    @property
    def columns(self) -> list[str]:
        """In the order in which rows name them."""
        return list(dict.fromkeys(cell.column for row in self.rows for cell in row.cells))

    @property
    def lines(self) -> list[str]:
        """In the order in which rows name them."""
        return list(dict.fromkeys(row.line for row in self.rows))

    def row(self, name: str) -> Row:
        """The row of a name that the table has."""
        return next(row for row in self.rows if row.name == name)

    def chosen(self, patterns: list[str]) -> list[Row]:
        """
        The rows that some pattern matches, such as `snli-*`, in their order; all without a pattern.

        # Raises

        `InputError`
            For a pattern that matches none.
        """
        names = [row.name for row in self.rows]
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in names):
                raise InputError(f"no row matches {pattern!r}", hint=f"the rows are {', '.join(names)}")
        return [row for row in self.rows if not patterns or any(fnmatchcase(row.name, p) for p in patterns)]


def read_table(file: str | Path) -> Table:
    """
    # Raises

    `InputError`
        If the file cannot be read, or is no table: all that is wrong with its keys, types, names and references.
    """
    path = Path(file)
    if not path.is_file():
        raise InputError("no such table", file=path, hint="they are in training_config/ablations")
    try:
        given = Params.from_file(path).as_dict(quiet=True)
    except (RuntimeError, ValueError) as error:
        raise InputError((one_line(error) or str(error)).removeprefix(f"{path}:"), file=path) from None
    _require_none(path, form_problems(given))
    _require_none(path, _row_form_problems(given["rows"]))
    table = _table(path, given)
    _require_none(path, _problems(table))
    return table


def _require_none(path: Path, problems: Iterable[str]) -> None:
    if told := list(problems):
        raise InputError("; ".join(told), file=path)


def _row_form_problems(rows: list[dict[str, Any]]) -> Iterator[str]:
    if not rows:
        yield "a table needs rows"
    for row in rows:
        if not row.get("cells"):
            yield from (f"row {row['name']} needs a {key}" for key in ("column", "metric") if row.get(key) is None)


def _table(path: Path, given: dict[str, Any]) -> Table:
    increase = given.get("increase")
    return Table(
        name=path.stem,
        title=given.get("title") or path.stem,
        about=given.get("about") or "",
        rows=tuple(_row(path, row) for row in given["rows"]),
        increase=None if increase is None else Increase(**increase),
        figure=given.get("figure"),
    )


def _row(path: Path, given: dict[str, Any]) -> Row:
    own = {key: given.get(key) for key in ("column", "metric", "paper")}
    rest = {key: value for key, value in given.items() if key not in (*own, "config") and value is not None}
    made: dict[str, Any] = {
        "configs": config_places(path, given["config"]),
        "line": given.get("line") or given["name"],
        "cells": tuple(_cell(cell) for cell in given.get("cells") or [own]),
    }
    made |= {key: tuple(rest[key]) for key in ("needs", "seed_keys") if key in rest}
    if "ensemble" in rest:
        made["ensemble"] = Ensemble(**rest["ensemble"])
    return Row(**(rest | made))


def config_places(table: Path, name: str) -> tuple[Path, ...]:
    """Where the config of a row may be: below the table's folder, the current folder, or the source tree."""
    folders = [table.parent, Path(), *([PROJECT] if (PROJECT / "training_config").is_dir() else [])]
    return tuple(dict.fromkeys((folder / name).absolute() for folder in folders))


def _cell(given: dict[str, Any]) -> Cell:
    paper = given.get("paper")
    if paper is not None:
        paper = Paper(**paper) if isinstance(paper, dict) else Paper(mean=paper)
    return Cell(**{**given, "paper": paper})


def _problems(table: Table) -> Iterator[str]:
    for name, count in Counter(row.name for row in table.rows).items():
        if count > 1:
            yield f"{count} rows are called {name}"
        if not name or not all(letter.isalnum() or letter in "-_.+=" for letter in name) or len(name) > LONGEST_NAME:
            wanted = f"up to {LONGEST_NAME} letters, digits and -_.+= were wanted, since folders are named by it"
            yield f"row name {name!r}: {wanted}"
    rows = {row.name: row for row in table.rows}
    for row in table.rows:
        yield from (f"row {row.name}: {problem}" for problem in _row_problems(row, rows))
    for place, names in _places(table).items():
        if len(names) > 1:
            yield f"rows {' and '.join(names)} stand in the same place, line {place[0]!r} and column {place[1]!r}"
    for column in (table.increase.of, table.increase.over) if table.increase else ():
        if column is not None and column not in table.columns:
            yield f"increase: no row has the column {not_known(column, table.columns)}"
    if table.figure not in (None, "share"):
        yield f"figure must be 'share' or absent, found {table.figure!r}"
    elif table.figure and not any(row.x for row in table.rows):
        yield "figure 'share' needs rows with x, their share of the training data"


def _places(table: Table) -> dict[tuple[str, str], list[str]]:
    places: dict[tuple[str, str], list[str]] = {}
    for row in table.rows:
        for cell in row.cells:
            places.setdefault((row.line, cell.column), []).append(row.name)
    return places


def _row_problems(row: Row, rows: dict[str, Row]) -> Iterator[str]:
    if not isinstance(row.changes, dict):
        yield "changes must be an object"
    for key in ("split", "paper_split"):
        if getattr(row, key) not in (DEV, TEST):
            yield f"{key} must be {DEV} or {TEST}, found {getattr(row, key)!r}"
    if row.split == TEST and not row.file:
        yield "split test needs a file, the data that are scored"
    if not row.seed_keys:
        yield "seed_keys must name at least one key, or the seeds would all have the same run"
    for key in ("minutes", "x"):
        if getattr(row, key) is not None and not 0 < getattr(row, key) < inf:
            yield f"{key} must be above 0, found {getattr(row, key)}"
    for cell in row.cells:
        if (cell.metric == PASSES) != (cell.over is not None):
            yield f"the metric {PASSES!r} and `over`, the row that is passed, go together"
    for name in [*row.others, *(cell.over for cell in row.cells if cell.over)]:
        if name not in rows:
            yield f"there is no row {not_known(name, rows)}"
    yield from _reference_problems(row, rows)


def _reference_problems(row: Row, rows: dict[str, Row]) -> Iterator[str]:
    """Of the rows that a row builds on: one step deep, so that none builds on itself."""
    tuned = rows.get(row.bilm_of) if row.bilm_of else None
    if tuned is not None and not tuned.finetune:
        yield f"bilm_of must be a row with finetune, {tuned.name} is none"
    if row.finetune and row.others:
        yield "a row with finetune builds on no other"
    if row.ensemble is None:
        return
    if row.ensemble.how not in (VOTES, PROBABILITIES):
        yield f"how must be {VOTES} or {PROBABILITIES}, found {row.ensemble.how!r}"
    if row.ensemble.members < 2:
        yield f"an ensemble needs two members at least, found {row.ensemble.members}"
    of = rows.get(row.ensemble.of)
    if of is not None and of.once:
        yield f"an ensemble needs a row with seeds, {of.name} has one run"
