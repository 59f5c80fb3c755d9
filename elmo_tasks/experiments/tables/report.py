"""Step 5: a self-contained page with the table, what its rows change, figures, runs, and how to reproduce it."""

import os
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined

from elmo_tasks import resources
from elmo_tasks.experiments.tables.figures import curve_charts, layer_weights, share_charts
from elmo_tasks.experiments.tables.results import (
    FAILED,
    MISSING,
    Record,
    Summary,
    body,
    duration,
    remarks,
    run_scores,
    short_commit,
)
from elmo_tasks.experiments.tables.table import Row
from elmo_tasks.training.config import differences


def report(summary: Summary, command: str) -> str:
    """The page as HTML. `command` is the shell command that makes the same table."""
    header, rows = body(summary)
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    template = environment.from_string(files(__package__).joinpath("report.html.jinja").read_text("utf-8"))
    return template.render(
        table=summary.table,
        header=header,
        body=rows,
        marked=(MISSING, FAILED),
        remarks=[_relative(remark) for remark in remarks(summary)],
        rows=[_row(summary, row) for row in summary.table.rows],
        configs=_configs(summary),
        charts=[*share_charts(summary), *curve_charts(summary)],
        weights=layer_weights(summary),
        runs=[_run(summary, record) for record in summary.all_records()],
        about=_about(summary, command),
    )


def _row(summary: Summary, row: Row) -> dict[str, Any]:
    """A line of the table of rows."""
    config = summary.planner.resolved.get(row.name, {})
    data = _relative(str(row.file or config.get("validation_data_path") or ""))
    shown = [(cell.metric, summary.result(row, cell)) for cell in row.cells]
    return {
        "name": row.name,
        "config": row.config.name,
        "changes": [_relative(line) for line in _changes(summary, row)],
        "scored on": f"{row.split}, {data}" if data else row.split,
        "scores": [(f"{metric} {cell.ours}", ", ".join(f"{it:.1f}" for it in cell.values)) for metric, cell in shown],
    }


def _changes(summary: Summary, row: Row) -> list[str]:
    if row.missing:
        return [f"needs {file}" for file in row.missing]
    ensemble = [f"{row.ensemble.how} of {row.ensemble.members} runs of {row.ensemble.of}"] if row.ensemble else []
    tuned = [f"the biLM of {row.bilm_of}"] if row.bilm_of else []
    return ensemble + tuned + summary.planner.differences(row)


def _configs(summary: Summary) -> dict[str, list[tuple[str, str, str]]]:
    """How each config differs from the first for the same row label and type of model: `(first, key, change)`."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    first: dict[tuple[str, str], Row] = {}
    bases = summary.planner.bases
    for row in summary.table.rows:
        if row.name in bases:
            other = first.setdefault((row.row_label, str(bases[row.name].get("model", {}).get("type"))), row)
            if other.config != row.config and row.config.name not in found:
                lines = differences(bases[other.name], bases[row.name])
                pairs = [_relative(line).partition(": ") for line in lines]
                found[row.config.name] = [(other.config.name, key, change) for key, _, change in pairs]
    return found


def _relative(text: str) -> str:
    """The text with paths relative to the data root and the fixtures."""
    fixtures = resources.fixtures_root()
    for root in (resources.data_root(), fixtures / "miniworld", fixtures):
        text = text.replace(f"{root}{os.sep}", "")
    return text


def _run(summary: Summary, record: Record) -> dict[str, Any]:
    if "failed" in record:
        return record
    return {
        "row": record["row"],
        "seed": record["seed"],
        "scores": run_scores(summary.table.row(record["row"]), record),
        "best epoch": f"{record['scores'].get('best_epoch', 0):.0f}",
        "epochs": record["epochs"],
        "time": duration(record["seconds"]),
        "memory": f"{record['peak_memory'] / 1e9:.1f} GB",
        "device": record["device"],
        "commit": short_commit(record["commit"]),
        "config hash": record["hash"],
    }


def _about(summary: Summary, command: str) -> dict[str, str]:
    """How the finished runs were made."""
    records = [record for record in summary.all_records() if "failed" not in record]
    dates = sorted(str(record[key])[:10] for record in records for key in ("started", "finished") if key in record)
    versions = [", ".join(f"{name} {it}" for name, it in record.get("versions", {}).items()) for record in records]
    found = {
        "Command": command,
        "Scale": summary.table.scale,
        "The paper's configs": str(resources.configs_root() / "paper"),
        "Date": " to ".join(dict.fromkeys([*dates[:1], *dates[-1:]])),
        "Versions": _distinct(versions),
        "Machine": _distinct(record["device"] for record in records),
        "Code": _distinct(record["commit"] for record in records),
    }
    return {name: value for name, value in found.items() if value}


def _distinct(values: Iterable[Any]) -> str:
    return "; ".join(dict.fromkeys(str(value) for value in values if value))
