"""
Step 1: read a table's Jsonnet file and check it. docs/reference-tables.md lists its
keys with the meanings that stand here.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from elmo_tasks.errors import InputError, one_line, shown
from elmo_tasks.formats.corpora import CORPORA, located
from elmo_tasks.resources import SCALES, configs_root, scale_folder
from elmo_tasks.settings import (
    Filled,
    Integer,
    Limits,
    Number,
    Positive,
    expectation,
    keys_in,
)
from elmo_tasks.tasks import TASKS
from elmo_tasks.tasks.metrics import Metric, metric_of
from elmo_tasks.training.config import evaluate, find_embedded
from elmo_tasks.training.seeds import SEEDS

VOTES = "votes"
PASSES = "passes"
"""
The metric of a cell that shows the first epoch in which a row is better than the best
epoch of another row.
"""
ASIDE = "aside_"
"""
How the names of metrics begin that are scores of training data that were put aside.
"""

OF_RUN = (PASSES, "best_epoch", "reg_loss", "perplexity_before")
"""Metrics that the model of a run need not have."""

OF_ELMO = "elmo_"
"""
How the names of the learned layer weights begin, as many as the model that is used has.
"""

Split = Literal["dev", "test"]


class Strict(BaseModel):
    """
    Rejects unknown keys and does not convert types; `null` is the same as no value.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {key: value for key, value in given.items() if value is not None}


class Paper(Strict):
    """
    The paper's result in a cell: a number with an optional deviation, or words. A plain
    number is its mean.
    """

    mean: Annotated[float | None, "the published number"] = None
    deviation: Annotated[
        float | None, "its standard deviation over seeds, if published"
    ] = None
    says: Annotated[str | None, "words, where the paper has no number"] = None

    @model_validator(mode="before")
    @classmethod
    def _from_number(cls, given: Any) -> Any:
        if isinstance(given, int | float):
            return {"mean": given}
        return given


Members = Annotated[Integer, Field(ge=2)]
Fraction = Annotated[Number, Field(gt=0, lt=1)]


class Ensemble(Strict):
    """
    The runs of the row `of` with the seeds 1 to `members`, and how they are combined.
    """

    of: Annotated[str, "name of the row whose runs are combined"]
    members: Annotated[Members, "number of runs: seeds 1 to `members`"]
    how: Annotated[
        Literal["probabilities", "votes"],
        "average the probabilities, or let the predictions vote",
    ] = "probabilities"

    @property
    def seeds(self) -> range:
        """The seeds of its members."""
        return range(1, self.members + 1)


class Cell(Strict):
    """
    One cell of the table. Its metric is a score of the row's runs, or `passes`: the
    first epoch in which the row's run is better than the best epoch of the row `over`,
    compared seed by seed.
    """

    column: Annotated[str, "title of the cell's column"]
    metric: Annotated[
        str,
        "the score that it shows, such as `f1`. `f1`, `accuracy`, `em`, `precision` and"
        " `recall` are shares of 1: they are shown in percent, and an increase of them also"
        " relative to the error. `aside_f1` is that on the data put aside, see the row's `aside`."
        " `passes` shows the first epoch in which the row is better than the best epoch of"
        " the row `over`",
    ]
    paper: Annotated[Paper | None, "the published result, which the table compares"] = (
        None
    )
    over: Annotated[
        str | None, "name of the other row, only with the metric `passes`"
    ] = None

    @model_validator(mode="after")
    def _check_over(self) -> "Cell":
        if (self.metric == PASSES) != (self.over is not None):
            raise ValueError(
                f"expected the key over, the other row, with the metric {PASSES!r} and only there"
            )
        return self

    @property
    def kind(self) -> Metric:
        """What its metric is."""
        return metric_of(self.metric)


class Row(Strict):
    """
    A base config, the keys that a row changes, and the cells that show its scores.
    """

    name: Annotated[
        str,
        Field(pattern=r"^[\w.+=-]{1,100}$"),
        "name of the row, unique in the table: letters, digits and `. + = _ -`. `--rows`"
        " selects rows by it, and the folders of runs begin with it",
    ]
    config: Annotated[
        Path,
        "the config that the row changes: a name that `elmo-tasks configs` lists, or a"
        " path, relative to the table's folder or the current one",
    ] = Field(strict=False)
    row_label: Annotated[str, "title of the line in which the cells stand"]
    cells: Annotated[list[Cell], Filled, "the numbers that the row shows"]
    changes: Annotated[
        dict[str, Any],
        "keys of the config by dotted path, and their values in this row",
    ] = {}
    split: Annotated[
        Split,
        "what is scored: the validation data of the config, or with `test` the data in"
        " `file`",
    ] = "dev"
    paper_split: Annotated[
        Split, "what the paper's numbers are scores of; a note says if it differs"
    ] = "dev"
    file: Annotated[str | None, "data to score, with `split: 'test'`"] = None
    needs: Annotated[
        list[str],
        "files without which the row is not run, and its cells say `missing`",
    ] = []
    minutes: Annotated[
        Positive | None,
        "duration of a run on one CPU core, for estimates; null: not measured",
    ] = None
    aside: Annotated[
        Fraction | Limits | None,
        "fraction of the training data, at the end, that is put aside, or where the part"
        " that is put aside starts and ends, such as `[0.2, 0.3]`: the row is not trained"
        " on it. The best epoch is chosen on dev as always, and then scored on"
        " this part, too; the metrics are `aside_f1` and so on. Documents, articles and"
        " sentences are not divided: see `part` of the data loader `elmo_tasks_share`",
    ] = None
    seed_keys: Annotated[
        list[str], Filled, "keys of the config that get the number of the seed"
    ] = list(SEEDS)
    finetune: Annotated[
        bool,
        "if true, the config tunes a biLM (`bilm_finetune`). The row has one run, and its"
        " metrics are perplexities",
    ] = False
    ensemble: Annotated[
        Ensemble | None, "combine the runs of another row instead of training"
    ] = None
    bilm_of: Annotated[
        str | None,
        "name of a row with `finetune`, whose tuned biLM this row uses as"
        " `model.elmo.model`",
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _normalize(cls, given: Any) -> Any:
        """`column`, `metric` and `paper` stand for a single cell."""
        if not isinstance(given, dict):
            return given
        row = {"row_label": given.get("name")} | given
        cell = {}
        for key in ("column", "metric", "paper"):
            if key in row:
                cell[key] = row.pop(key)
        row["cells"] = row.get("cells") or [cell]
        return row

    @model_validator(mode="after")
    def _check_split(self) -> "Row":
        if self.split == "test" and self.file is None:
            raise ValueError("split test needs the key file, the data to evaluate")
        return self

    @model_validator(mode="after")
    def _check_aside(self) -> "Row":
        if self.aside is not None and self.once:
            raise ValueError("aside needs a row that trains the model of a task")
        if self.aside == (0, 1):
            raise ValueError("aside leaves no data to train on")
        return self

    @property
    def missing(self) -> list[str]:
        """The files that the row needs and that do not exist."""
        needed = list(self.needs)
        if self.file:
            needed.append(self.file)
        return [file for file in needed if not os.path.exists(located(file))]

    @property
    def scores_of_model(self) -> list[str]:
        """The metrics of its cells that must be scores of its model on dev data."""
        names = []
        for cell in self.cells:
            name = cell.metric
            if self.aside is not None:
                name = name.removeprefix(ASIDE)
            if name not in OF_RUN and not name.startswith(OF_ELMO):
                names.append(name)
        return names

    @property
    def once(self) -> bool:
        """True if the row has only one run, for any number of seeds."""
        return self.finetune or self.ensemble is not None

    def seeds(self, count: int) -> range:
        """The seeds of its runs in a table with `count` seeds."""
        if self.once:
            return range(1, 2)
        return range(1, count + 1)

    @property
    def others(self) -> list[str]:
        """The rows whose runs it needs."""
        names = []
        if self.bilm_of:
            names.append(self.bilm_of)
        if self.ensemble is not None:
            names.append(self.ensemble.of)
        return names


class Increase(Strict):
    """
    Show the increase over the column `over`: of the column `of`, or of each other
    column.
    """

    over: Annotated[str, "the column that is subtracted"]
    of: Annotated[
        str | None,
        "the column from which it is subtracted: the table gets one more column, the"
        " increase with its standard error over seeds (SE), and that of a share of 1 also"
        " in percent of the error. Null: the increases of all other columns, in lines of"
        " their own",
    ] = None


class Table(Strict):
    """
    A table at one scale.
    """

    title: Annotated[str, "title of the table"]
    scale: Literal["mini", "small", "paper"]
    about: Annotated[str, "text below the title"] = ""
    rows: Annotated[list[Row], Filled, "what is run"]
    increase: Annotated[
        Increase | None, "show the increase of one column over another"
    ] = None

    @model_validator(mode="after")
    def _check_rows(self) -> "Table":
        problems = list(_duplicates(self))
        problems += _unknown_columns(self)
        for row in self.rows:
            problems += _wrong_references(self, row)
        if problems:
            raise ValueError("; ".join(problems))
        return self

    @property
    def columns(self) -> list[str]:
        """In order of first appearance."""
        columns: dict[str, None] = {}
        for row in self.rows:
            for cell in row.cells:
                columns[cell.column] = None
        return list(columns)

    def row(self, name: str) -> Row:
        """The row with this name."""
        return {row.name: row for row in self.rows}[name]


def read_table(file: str | Path, scale: str = SCALES[0]) -> Table:
    """
    Read and check a table, from a file or by the name of a bundled one. A row's
    `config` is a path, relative to the table's folder or the current one, or the name
    of a config of that scale, next to the table or in the package. Raises `InputError`,
    which lists all problems, if the file cannot be read or is not a valid table.
    """
    path = Path(file)
    if not path.is_file() and not path.suffix:
        path = Path(find_embedded(str(file), configs_root() / "tables"))
    if not path.is_file():
        hint = "`elmo-tasks configs` lists ours"
        raise InputError("no such table", file=path, hint=hint)
    code = {"tasks": _tasks(), "configs": _imports(path, scale)}
    try:
        given = evaluate(path, code, scale=scale)
        if not isinstance(given, dict):
            raise InputError("expected an object with `rows`", file=path)
        table = Table.model_validate({"title": path.stem} | given | {"scale": scale})
    except ValidationError as error:
        problems = [_describe(found, given) for found in error.errors()]
        raise InputError("; ".join(problems), file=path) from None
    except InputError:
        raise
    except (RuntimeError, ValueError) as error:
        problem = one_line(error) or str(error)
        raise InputError(problem.removeprefix(f"{path}:"), file=path) from None
    rows = [_with_config(path, row, scale) for row in table.rows]
    return table.model_copy(update={"rows": rows})


def choose_rows(table: Table, patterns: list[str]) -> list[Row]:
    """
    The rows that match a pattern, such as `snli-*`; all without patterns. `InputError`
    if one matches no row.
    """
    if not patterns:
        return table.rows
    names = [row.name for row in table.rows]
    chosen: set[str] = set()
    for pattern in patterns:
        matching = [name for name in names if fnmatchcase(name, pattern)]
        if not matching:
            hint = f"the rows are {', '.join(names)}"
            raise InputError(f"no row matches {pattern!r}", hint=hint)
        chosen.update(matching)
    return [row for row in table.rows if row.name in chosen]


def _describe(error: ErrorDetails, given: dict[str, Any]) -> str:
    """`row NAME: KEY: what is wrong, got VALUE`."""
    where = keys_in(given, error["loc"])
    if len(where) > 1 and where[0] == "rows":
        index = where[1]
        row = given["rows"][int(index)]
        name = index
        if isinstance(row, dict):
            name = row.get("name", index)
        where[:2] = [f"row {name}"]
    problem = f"expected {expectation(error)}, got {shown(error['input'])}"
    if error["type"] == "value_error":
        problem = expectation(error)
    return ": ".join(where + [problem])


def _tasks() -> str:
    """The records of all tasks as JSON, for the variable `tasks` of a table."""
    records = []
    for task in TASKS.values():
        files = CORPORA.get(task.name, ())
        record = {
            "name": task.name,
            "row_label": task.title,
            "metric": task.metric,
            "test": files[2].name if len(files) > 2 else None,
            "minutes": dict(zip(SCALES, task.minutes or (), strict=False)),
        }
        records.append(record)
    return json.dumps(records)


def _imports(table: Path, scale: str) -> str:
    """
    The Jsonnet object `{ "NAME": import "CONFIG", ... }` with the config of each task,
    for the variable `configs` of a table. Jsonnet evaluates those that the table uses;
    it cannot import a file whose name is computed.
    """
    fields = []
    for name in TASKS:
        config = _first_file(_configs(table, name, scale)) or "absent"
        fields.append(f"{json.dumps(name)}: import {json.dumps(str(config))}")
    return f"{{ {', '.join(fields)} }}"


def _configs(table: Path, name: str, scale: str) -> list[Path]:
    """
    Where the config of this name is looked up: beside the table and in the package.
    """
    file = f"{name}.jsonnet"
    beside = table.parent.parent
    folders = [beside / scale, scale_folder(beside, scale)]
    folders.append(scale_folder(configs_root(), scale))
    return [folder.absolute() / file for folder in folders]


def _first_file(candidates: list[Path]) -> Path | None:
    """The first that is a file."""
    for path in candidates:
        if path.is_file():
            return path
    return None


def _with_config(table: Path, row: Row, scale: str) -> Row:
    """
    The row with the first config that exists. One that does not is reported with the
    row's other problems.
    """
    candidates = [(table.parent / row.config).absolute(), row.config.absolute()]
    candidates += _configs(table, str(row.config), scale)
    config = _first_file(candidates) or candidates[0]
    return row.model_copy(update={"config": config})


def _duplicates(table: Table) -> Iterator[str]:
    names = Counter([row.name for row in table.rows])
    for name, count in names.items():
        if count > 1:
            yield f"{count} rows have the name {name}"
    cells = Counter[tuple[str, str]]()
    for row in table.rows:
        cells.update([(row.row_label, cell.column) for cell in row.cells])
    for (label, column), count in cells.items():
        if count > 1:
            yield f"{count} cells have the row_label {label!r} and the column {column!r}"


def _unknown_columns(table: Table) -> Iterator[str]:
    if table.increase is not None:
        for column in (table.increase.of, table.increase.over):
            if column is not None and column not in table.columns:
                yield f"increase: expected one of the columns {', '.join(table.columns)}, got {column!r}"


def _wrong_references(table: Table, row: Row) -> Iterator[str]:
    rows = {row.name: row for row in table.rows}
    named = list(row.others)
    for cell in row.cells:
        if cell.over:
            named.append(cell.over)
    for name in named:
        if name not in rows:
            yield f"row {row.name}: there is no row {name!r}"
    if row.bilm_of in rows and not rows[row.bilm_of].finetune:
        yield f"row {row.name}: bilm_of must name a row with finetune, got {row.bilm_of}"
    if row.finetune and row.others:
        yield f"row {row.name}: a row with finetune cannot use other rows"
    if row.ensemble and row.ensemble.of in rows and rows[row.ensemble.of].once:
        yield f"row {row.name}: an ensemble needs a row with seeds, {row.ensemble.of} has one run"
