"""Last step: a page that needs nothing else: the table, what its rows change, figures, runs, how to reproduce it."""

import os
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined

from elmo_tasks import settings
from elmo_tasks.ablation.figures import curve_charts, layer_weights, share_charts
from elmo_tasks.ablation.progress import duration
from elmo_tasks.ablation.runs import differences
from elmo_tasks.ablation.summary import Record, Summary
from elmo_tasks.ablation.table import Row
from elmo_tasks.ablation.text import FAILED, MISSING, body, changes, ours, remarks, run_scores

TEMPLATE = "report.html.jinja"


def report(summary: Summary, command: str) -> str:
    """
    The page as HTML.

    # Parameters

    summary : `Summary`
    command : `str`
        What makes the same table, in a shell.
    """
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    template = environment.from_string(files(__package__).joinpath(TEMPLATE).read_text("utf-8"))
    header, rows = body(summary)
    return template.render(
        table=summary.table,
        header=header,
        body=rows,
        marked=(MISSING, FAILED),
        remarks=[_without_roots(remark) for remark in remarks(summary)],
        rows=[_row(summary, row) for row in summary.table.rows],
        configs=_configs(summary),
        charts=[*share_charts(summary), *curve_charts(summary)],
        weights=layer_weights(summary),
        runs=[_run(summary, record) for record in summary.all_records()],
        about=_about(summary, command),
    )


def _row(summary: Summary, row: Row) -> dict[str, Any]:
    """What a row changes, what is scored, and its scores: mean and deviation, and each seed's."""
    config = summary.planner.resolved.get(row.name, {})
    data = _without_roots(str(row.file or config.get("validation_data_path") or ""))
    shown = [(cell.metric, summary.shown(row, cell)) for cell in row.cells]
    return {
        "name": row.name,
        "config": row.configs[0].name,
        "changes": [_without_roots(line) for line in _changes(summary, row)],
        "scored on": f"{row.split}, {data}" if data else row.split,
        "scores": [
            (f"{metric} {ours(place)}", ", ".join(f"{it:.1f}" for it in place.values)) for metric, place in shown
        ],
    }


def _changes(summary: Summary, row: Row) -> list[str]:
    notes = [f"needs {file}" for file in row.missing]
    if row.ensemble:
        notes.append(f"{row.ensemble.how} of {row.ensemble.members} runs of {row.ensemble.of}")
    if row.bilm_of:
        notes.append(f"the biLM of {row.bilm_of}")
    return notes if row.missing else notes + changes(summary.planner.differences(row))


def _configs(summary: Summary) -> dict[str, str]:
    """Of each config beside another one for the same model: how it differs from the first such one of its line."""
    found: dict[str, str] = {}
    first: dict[tuple[str, str], Row] = {}
    bases = summary.planner.bases
    for row in summary.table.rows:
        if row.name in bases:
            other = first.setdefault((row.line, str(bases[row.name].get("model", {}).get("type"))), row)
            if other.config != row.config and row.configs[0].name not in found:
                lines = changes(differences(bases[other.name], bases[row.name]))
                found[row.configs[0].name] = f"{other.configs[0].name} with {_without_roots('; '.join(lines))}"
    return found


def _without_roots(text: str) -> str:
    roots = {str(root) + os.sep for root in (settings.data_root(), settings.fixtures_root()) if root}
    for root in sorted(roots, key=len, reverse=True):
        text = text.replace(root, "")
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
        "commit": str(record["commit"])[:12],
        "config hash": record["hash"],
    }


def _about(summary: Summary, command: str) -> dict[str, str]:
    """How the table was made, of all finished runs."""
    records = [record for record in summary.all_records() if "failed" not in record]
    dates = sorted(str(record[key])[:10] for record in records for key in ("started", "finished") if key in record)
    versions = [", ".join(f"{name} {it}" for name, it in record.get("versions", {}).items()) for record in records]
    found = {
        "Command": command,
        "Scale": settings.scale(),
        "Date": " to ".join(dict.fromkeys([*dates[:1], *dates[-1:]])),
        "Versions": _distinct(versions),
        "Machine": _distinct(record["device"] for record in records),
        "Code": _distinct(record["commit"] for record in records),
    }
    return {name: value for name, value in found.items() if value}


def _distinct(values: Iterable[Any]) -> str:
    return "; ".join(dict.fromkeys(str(value) for value in values if value))
