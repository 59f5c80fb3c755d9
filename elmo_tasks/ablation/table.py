"""First step: a table's Jsonnet file -> rows, checked. training_config/lib/ablation.libsonnet explains the form."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from allennlp.common import Params

from elmo_tasks.ablation.nearest import not_known
from elmo_tasks.compat.seeds import SEEDS
from elmo_tasks.compat.terminal import one_line
from elmo_tasks.errors import InputError

DEV, TEST = "dev", "test"
PERCENT = ("f1", "accuracy", "em")
"""Metrics between 0 and 1 that tables show in percent."""

VOTES, PROBABILITIES = "votes", "probabilities"


@dataclass(frozen=True)
class Paper:
    """What the paper has in a cell: a number, perhaps with a deviation, or words."""

    mean: float | None = None
    deviation: float | None = None
    says: str | None = None


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
class Ensemble:
    """The runs of the row `of` with the seeds 1 to `members`, and how they come to one answer."""

    of: str
    members: int
    how: str = PROBABILITIES


@dataclass(frozen=True)
class Row:
    """A named row: a base config, the keys it changes, and where its scores stand."""

    name: str
    config: Path
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
    def missing(self) -> list[str]:
        """The needed files that are not there."""
        return [file for file in self.needs if not os.path.exists(file)]

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
    increase : `tuple[str, str]`, optional
        A column, and the one over which its increase is shown.
    figure : `str`, optional
        `share`: scores over the share of the training data.
    """

    name: str
    title: str
    about: str
    rows: tuple[Row, ...]
    increase: tuple[str, str] | None = None
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
        If the file cannot be read, or is no table: all that is wrong with its keys, names and references.
    """
    path = Path(file)
    if not path.is_file():
        raise InputError("no such table", file=path, hint="they are in training_config/ablations")
    try:
        given = Params.from_file(path).as_dict(quiet=True)
    except (RuntimeError, ValueError) as error:
        raise InputError(one_line(error) or str(error), file=path) from None
    table = _table(path, given)
    problems = list(_problems(table))
    if problems:
        raise InputError("; ".join(problems), file=path)
    return table


def _table(path: Path, given: dict[str, Any]) -> Table:
    known = {"title", "about", "rows", "increase", "figure"}
    _refuse_unknown(given, known, "a table", path)
    rows = given.get("rows")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise InputError("a table needs a list of rows", file=path)
    increase = given.get("increase")
    return Table(
        name=path.stem,
        title=str(given.get("title", path.stem)),
        about=str(given.get("about", "")),
        rows=tuple(_row(path, row) for row in rows),
        increase=None if increase is None else (increase["of"], increase["over"]),
        figure=given.get("figure"),
    )


def _row(path: Path, given: dict[str, Any]) -> Row:
    name = given.get("name")
    if not isinstance(name, str) or not name:
        raise InputError(f"a row needs a name: {given}", file=path)
    where = f"row {name}"
    _refuse_unknown(given, {f.name for f in fields(Row)} | {"column", "metric", "paper"}, where, path)
    if not isinstance(given.get("config"), str):
        raise InputError(f"{where} needs a config, the path of its base", file=path)
    rest = {key: value for key, value in given.items() if key not in ("cells", "column", "metric", "paper")}
    ensemble = rest.pop("ensemble", None)
    try:
        return Row(
            **{
                **rest,
                "config": path.parent / given["config"],
                "line": given.get("line", name),
                "cells": tuple(_cell(cell) for cell in given.get("cells") or [_own_cell(given)]),
                "needs": tuple(given.get("needs", ())),
                "seed_keys": tuple(given.get("seed_keys", SEEDS)),
                "ensemble": None if ensemble is None else Ensemble(**ensemble),
            }
        )
    except (TypeError, KeyError) as error:
        raise InputError(f"{where}: {error}", file=path) from None


def _own_cell(given: dict[str, Any]) -> dict[str, Any]:
    return {"column": given["column"], "metric": given["metric"], "paper": given.get("paper")}


def _cell(given: dict[str, Any]) -> Cell:
    paper = given.get("paper")
    if paper is not None:
        paper = Paper(**paper) if isinstance(paper, dict) else Paper(mean=paper)
    return Cell(**{**given, "paper": paper})


def _refuse_unknown(given: dict[str, Any], known: set[str], where: str, path: Path) -> None:
    unknown = [not_known(key, known) for key in given if key not in known]
    if unknown:
        raise InputError(f"{where} has no key {', '.join(unknown)}", file=path)


def _problems(table: Table) -> Iterator[str]:
    names = {row.name for row in table.rows}
    for name, count in Counter(row.name for row in table.rows).items():
        if count > 1:
            yield f"{count} rows are called {name}"
        if not all(letter.isalnum() or letter in "-_.+=" for letter in name):
            yield f"row name {name!r}: letters, digits and -_.+= were wanted, since folders are named by it"
    for row in table.rows:
        yield from (f"row {row.name}: {problem}" for problem in _row_problems(row, names))
    for column in table.increase or ():
        if column not in table.columns:
            yield f"increase: no row has the column {not_known(column, table.columns)}"
    if table.figure not in (None, "share"):
        yield f"figure must be 'share' or absent, found {table.figure!r}"


def _row_problems(row: Row, names: set[str]) -> Iterator[str]:
    if not isinstance(row.changes, dict):
        yield "changes must be an object"
    if row.split not in (DEV, TEST):
        yield f"split must be {DEV} or {TEST}, found {row.split!r}"
    if row.split == TEST and not row.file:
        yield "split test needs a file, the data that are scored"
    for name in [*row.others, *(cell.over for cell in row.cells if cell.over)]:
        if name not in names:
            yield f"there is no row {not_known(name, names)}"
    if row.ensemble is not None and row.ensemble.how not in (VOTES, PROBABILITIES):
        yield f"how must be {VOTES} or {PROBABILITIES}, found {row.ensemble.how!r}"
    if row.ensemble is not None and row.ensemble.members < 2:
        yield f"an ensemble needs two members at least, found {row.ensemble.members}"
