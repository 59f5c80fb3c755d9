"""
Step 1: read a table's Jsonnet file and check it. The reference of tables lists its keys
with the meanings that stand here.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from elmo_tasks.errors import InputError, one_line
from elmo_tasks.formats.corpora import CORPORA, located
from elmo_tasks.formats.json_files import require_object
from elmo_tasks.resources import SCALES, configs_root, scale_folder
from elmo_tasks.settings import Filled, Integer, validated
from elmo_tasks.tasks import TASKS
from elmo_tasks.training.config import evaluate, find_embedded, get, items
from elmo_tasks.training.metrics import Metric, metric_of

PASSES = "passes"
"""
The metric of a row that shows the first epoch in which it is better than the best epoch
of another row.
"""
ASIDE = "aside_"
"""
How the names of metrics begin that are scores of training data that were put aside.
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


class Ensemble(Strict):
    """
    The runs of the row `of` with the seeds 1 to `members`, whose probabilities are
    averaged.
    """

    of: Annotated[str, "name of the row whose runs are combined"]
    members: Annotated[Integer, Field(ge=2), "number of runs: seeds 1 to `members`"]

    @property
    def seeds(self) -> range:
        """The seeds of its members."""
        return range(1, self.members + 1)


class Row(Strict):
    """
    A base config, the keys that a row changes, and the score that it shows in a cell.
    Rows with the same config share their runs: a second score is a second row.
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
    row_label: Annotated[str, "title of the line in which the score stands"]
    column: Annotated[str, "title of its column"]
    metric: Annotated[
        str,
        "the score, such as `f1`. `f1`, `accuracy`, `em`, `precision` and"
        " `recall` are shares of 1: they are shown in percent, and an increase of them also"
        " relative to the error. With the key `data_loader.part`, `aside_f1` is that on the rest of"
        " the training data. `passes` shows the first epoch in which the row is better than"
        " the best epoch of the row `over`, in the metric of that row, compared seed by seed",
    ]
    paper: Annotated[Paper | None, "the published result, which the table compares"] = (
        None
    )
    over: Annotated[
        str | None, "name of the other row, only with the metric `passes`"
    ] = None
    changes: Annotated[
        dict[str, Any],
        "keys of the config by dotted path, and their values in this row",
    ] = {}
    file: Annotated[
        str | None,
        "the data to score, such as test data. Null: the validation data of the config",
    ] = None
    paper_split: Annotated[
        Split, "what the paper's numbers are scores of; a note says if it differs"
    ] = "dev"
    needs: Annotated[
        list[str],
        "files without which the row is not run, and its cell says `missing`",
    ] = []
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

    @property
    def kind(self) -> Metric:
        """What its metric is."""
        return metric_of(self.metric)

    @property
    def split(self) -> str:
        """What it is scored on."""
        return "test" if self.file else "dev"

    @property
    def missing(self) -> list[str]:
        """The files that the row needs and that do not exist."""
        needed = list(self.needs)
        if self.file:
            needed.append(self.file)
        return [file for file in needed if not os.path.exists(located(file))]

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


class Table(Strict):
    """A table at one scale."""

    title: Annotated[str, "title of the table"]
    scale: Literal["mini", "small", "paper"]
    about: Annotated[str, "text below the title"] = ""
    rows: Annotated[list[Row], Filled, "what is run"]
    increase: Annotated[
        str | None,
        "title of a column: the table has lines with the increases of the others over it,"
        " with their standard errors over seeds (SE), and those of shares of 1 also in percent of the"
        " error",
    ] = None

    @property
    def columns(self) -> list[str]:
        """In order of first appearance."""
        return list(dict.fromkeys([row.column for row in self.rows]))

    def row(self, name: str) -> Row:
        """The row with this name."""
        return {row.name: row for row in self.rows}[name]


_ROW = TypeAdapter(Row)
_TABLE = TypeAdapter(Table)


def read_table(file: str | Path, scale: str = SCALES[0]) -> Table:
    """
    Read and check a table, from a file or by the name of a bundled one. A row's
    `config` is a path, relative to the table's folder or the current one, or the name
    of a config of that scale, next to the table or in the package. Raises `InputError`
    if the file cannot be read or is not a valid table.
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
    except InputError:
        raise
    except (RuntimeError, ValueError) as error:
        problem = one_line(error) or str(error)
        raise InputError(problem.removeprefix(f"{path}:"), file=path) from None
    rows = require_object(given, file=path).get("rows")
    for number, row in items(rows if isinstance(rows, list) else []):
        name = f"row {get(row, 'name') or number}"
        validated(_ROW, row, name, strict=None, file=path)
    given["scale"] = scale
    table: Table = validated(_TABLE, given, "table", strict=None, file=path)
    problems = [*_duplicates(table), *_wrong_names(table)]
    problems = problems or [*_wrong_references(table)]
    if problems:
        raise InputError("; ".join(problems), file=path)
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


def _tasks() -> str:
    """The records of all tasks as JSON, for the variable `tasks` of a table."""
    records = []
    for task in TASKS.values():
        files = CORPORA.get(task.name, ())
        records.append(
            {
                "name": task.name,
                "row_label": task.title,
                "metric": task.metric,
                "paper": task.paper,
                "test": files[2].name if len(files) > 2 else None,
            }
        )
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
    folders = [
        beside / scale,
        scale_folder(beside, scale),
        scale_folder(configs_root(), scale),
    ]
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


def _wrong_names(table: Table) -> Iterator[str]:
    columns = table.columns
    if table.increase not in (None, *columns):
        problem = f"expected one of the columns {', '.join(columns)}"
        yield f"increase: {problem}, got {table.increase!r}"
    names = [row.name for row in table.rows]
    for row in table.rows:
        if (row.metric == PASSES) != (row.over is not None):
            problem = (
                "expected the key over, the other row,"
                f" with the metric {PASSES!r} and only there"
            )
            yield f"row {row.name}: {problem}"
        for name in (*row.others, row.over):
            if name not in (None, *names):
                yield f"row {row.name}: there is no row {name!r}"


def _wrong_references(table: Table) -> Iterator[str]:
    for row in table.rows:
        if row.bilm_of and not table.row(row.bilm_of).finetune:
            yield f"row {row.name}: bilm_of must name a row with finetune, got {row.bilm_of}"
        if row.finetune and row.others:
            yield f"row {row.name}: a row with finetune cannot use other rows"
        if row.ensemble is not None and table.row(row.ensemble.of).once:
            yield f"row {row.name}: an ensemble needs a row with seeds, got {row.ensemble.of}"


def _duplicates(table: Table) -> Iterator[str]:
    names = Counter([row.name for row in table.rows])
    for name, count in names.items():
        if count > 1:
            yield f"{count} rows have the name {name}"
    cells = Counter([(row.row_label, row.column) for row in table.rows])
    for (label, column), count in cells.items():
        if count > 1:
            yield f"{count} rows have the row_label {label!r} and the column {column!r}"
