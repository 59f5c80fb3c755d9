"""Step 1: read a table's Jsonnet file and check it."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from elmo_tasks.errors import InputError, one_line
from elmo_tasks.experiments.tables.schema import Cell, Ensemble, Increase, Paper, Row, Table
from elmo_tasks.resources import SCALES, configs_root
from elmo_tasks.tasks import TASKS
from elmo_tasks.training.checks.problem import nearest, shown
from elmo_tasks.training.config import evaluate, find_embedded

KEYS = {key for model in (Table, Row, Cell, Paper, Ensemble, Increase) for key in model.model_fields}


def read_table(file: str | Path, scale: str = SCALES[0]) -> Table:
    """
    Read and check a table: a file, or the name of one of ours. A row's `config` is a path from the table's or the
    current folder, or the name of a config of the scale beside the table or in the package. Raises `InputError` if the
    file cannot be read or is not a valid table. The message lists all problems.
    """
    path = Path(file if Path(file).is_file() or Path(file).suffix else find_embedded(str(file), "tables"))
    if not path.is_file():
        raise InputError("no such table", file=path, hint="`elmo-tasks configs` lists ours")
    try:
        given = evaluate(path, {"tasks": _tasks(path, scale)}, scale=scale)
        table = Table.model_validate({"title": path.stem} | given | {"scale": scale})
    except ValidationError as error:
        raise InputError("; ".join(_describe(found, given) for found in error.errors()), file=path) from None
    except InputError:
        raise
    except (RuntimeError, ValueError) as error:
        raise InputError((one_line(error) or str(error)).removeprefix(f"{path}:"), file=path) from None
    table = table.model_copy(update={"rows": [_with_config(path, row, scale) for row in table.rows]})
    if problems := [*_duplicates(table), *_unknown_columns(table), *_wrong_references(table)]:
        raise InputError("; ".join(problems), file=path)
    return table


def choose_rows(table: Table, patterns: list[str]) -> list[Row]:
    """The rows that match a pattern, such as `snli-*`; all without patterns. `InputError` if one matches no row."""
    names = [row.name for row in table.rows]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise InputError(f"no row matches {pattern!r}", hint=f"the rows are {', '.join(names)}")
    return [row for row in table.rows if not patterns or any(fnmatchcase(row.name, p) for p in patterns)]


def unknown(name: str, known: Iterable[str]) -> str:
    """The name in quotes, with the nearest known name, or all of them."""
    near = nearest(name, known)
    return f"{name!r} (nearest: {near!r})" if near else f"{name!r} (known: {', '.join(sorted(known))})"


def _describe(error: ErrorDetails, given: dict[str, Any]) -> str:
    """`row NAME: KEY: expected X, got Y`."""
    where = list(error["loc"])
    prefix = ""
    if where[0] == "rows" and len(where) > 1:
        row = given["rows"][where[1]]
        prefix = f"row {row.get('name', where[1]) if isinstance(row, dict) else where[1]}: "
        where = where[2:]
    key = ".".join(map(str, where))
    return prefix + (f"{key}: " if key else "") + _message(error)


def _message(error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        near = nearest(str(error["loc"][-1]), KEYS)
        return "unknown key" + (f" (nearest: {near})" if near else "")
    if error["type"] == "missing":
        return "required key is missing"
    message = error["msg"].removeprefix("Value error, ").replace("Input should", "expected to", 1)
    return message if error["type"] == "value_error" else f"{message}, got {shown(error['input'])}"


def _tasks(table: Path, scale: str) -> str:
    """The Jsonnet of an array with the record of each task and its config, which is evaluated where it is used."""
    tasks = []
    for task in TASKS.values():
        test = task.files[2].name if len(task.files) > 2 else None
        known = {"name": task.name, "row_label": task.title, "metric": task.metric, "paper": task.paper, "test": test}
        minutes = dict(zip(SCALES, task.minutes or (), strict=False))
        config = next(filter(Path.is_file, _configs(table, task.name, scale)), "absent")
        record = json.dumps(known | {"minutes": minutes})
        tasks.append(f"{record} + {{ config:: import {json.dumps(str(config))} }}")
    return f"[{', '.join(tasks)}]"


def _configs(table: Path, name: str, scale: str) -> list[Path]:
    """Where the config of this name is looked up: beside the table and in the package."""
    folders = table.parent.parent, configs_root()
    return [(folder / scale / f"{name}.jsonnet").absolute() for folder in folders]


def _with_config(table: Path, row: Row, scale: str) -> Row:
    """The row with the first config that exists. One that does not is reported with the row's other problems."""
    candidates = [(folder / row.config).absolute() for folder in (table.parent, Path())]
    candidates += _configs(table, str(row.config), scale)
    return row.model_copy(update={"config": next((path for path in candidates if path.is_file()), candidates[0])})


def _duplicates(table: Table) -> Iterator[str]:
    for name, count in Counter(row.name for row in table.rows).items():
        if count > 1:
            yield f"{count} rows have the name {name}"
    cells = Counter((row.row_label, cell.column) for row in table.rows for cell in row.cells)
    for (label, column), count in cells.items():
        if count > 1:
            yield f"{count} cells have the row_label {label!r} and the column {column!r}"


def _unknown_columns(table: Table) -> Iterator[str]:
    for column in (table.increase.of, table.increase.over) if table.increase else ():
        if column is not None and column not in table.columns:
            yield f"increase: no row has the column {unknown(column, table.columns)}"
    if table.figure and not any(row.fraction for row in table.rows):
        yield "figure 'share' needs rows with the key fraction"


def _wrong_references(table: Table) -> Iterator[str]:
    rows = {row.name: row for row in table.rows}
    for row in table.rows:
        for name in [*row.others, *(cell.over for cell in row.cells if cell.over)]:
            if name not in rows:
                yield f"row {row.name}: no row {unknown(name, rows)}"
        if row.bilm_of in rows and not rows[row.bilm_of].finetune:
            yield f"row {row.name}: bilm_of must name a row with finetune, got {row.bilm_of}"
        if row.finetune and row.others:
            yield f"row {row.name}: a row with finetune cannot use other rows"
        if row.ensemble and row.ensemble.of in rows and rows[row.ensemble.of].once:
            yield f"row {row.name}: an ensemble needs a row with seeds, {row.ensemble.of} has one run"
