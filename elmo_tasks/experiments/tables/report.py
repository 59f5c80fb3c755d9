"""Step 5: a self-contained page with the table, what its rows change, figures, and how to reproduce it."""

import os
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined

from elmo_tasks import resources
from elmo_tasks.experiments.tables.figures import draw
from elmo_tasks.experiments.tables.results import (
    FAILED,
    MISSING,
    Summary,
    body,
    remarks,
)
from elmo_tasks.experiments.tables.table import Row

ROW_HEADER = ["row", "config", "changes", "scored on", "each seed"]
SCORES = (
    "Mean ± standard deviation (n−1) over n seeds; f1, accuracy and em are in percent."
)
MAX_LABELS, OTHERS = 12, "others"
"""The most frequent gold labels stand in the confusion of labels by name."""

ROWS = "Each row's config, what it changes there, what is scored, and the score of each seed."


def report(summary: Summary, command: str) -> str:
    """The page as HTML. `command` is the shell command that makes the same table."""
    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    template = environment.from_string(
        files(__package__).joinpath("report.html.jinja").read_text("utf-8")
    )
    rows = [_row(summary, row) for row in summary.table.rows]
    return template.render(
        title=summary.table.title,
        description=summary.table.about,
        tables=[("Results", SCORES, *body(summary)), ("Rows", ROWS, ROW_HEADER, rows)],
        confusions=[
            found for row in summary.table.rows if (found := _confusion(summary, row))
        ],
        marked=(MISSING, FAILED),
        remarks=[_relative(remark) for remark in remarks(summary)],
        drawings=[
            (one.caption, b64encode(one.image("svg")).decode()) for one in draw(summary)
        ],
        about=_about(summary, command),
    )


def _row(summary: Summary, row: Row) -> list[str]:
    config = summary.planner.resolved.get(row.name, {})
    data = _relative(str(row.file or config.get("validation_data_path") or ""))
    results = [(cell.metric, summary.result(row, cell).values) for cell in row.cells]
    return [
        row.name,
        row.config.name,
        _relative("\n".join(_changes(summary, row)) or "none"),
        f"{row.split}, {data}" if data else row.split,
        "\n".join(
            f"{metric} {', '.join(f'{value:.1f}' for value in values)}"
            for metric, values in results
            if values
        ),
    ]


def _changes(summary: Summary, row: Row) -> list[str]:
    if row.missing:
        return [f"needs {file}" for file in row.missing]
    ensemble = (
        [f"{row.ensemble.how} of {row.ensemble.members} runs of {row.ensemble.of}"]
        if row.ensemble
        else []
    )
    tuned = [f"the biLM of {row.bilm_of}"] if row.bilm_of else []
    return ensemble + tuned + summary.planner.differences(row)


def _relative(text: str) -> str:
    """The text with paths relative to the data root and the fixtures."""
    fixtures = resources.fixtures_root()
    for root in (resources.data_root(), fixtures / "miniworld", fixtures):
        text = text.replace(f"{root}{os.sep}", "")
    return text


def _confusion(
    summary: Summary, row: Row
) -> tuple[str, list[str], list[list[Any]]] | None:
    """The row's name, header and lines, a line for each gold label: how often each label was predicted, over seeds."""
    counts: Counter[tuple[str, str]] = Counter()
    totals: Counter[str] = Counter()
    for record in summary.records[row.name].values():
        for gold, line in record.get("confusion", {}).items():
            counts.update(
                {(gold, predicted): count for predicted, count in line.items()}
            )
            totals[gold] += sum(line.values())
    if not counts:
        return None
    shown: Counter[tuple[str, str]] = Counter()
    kept = {label for label, _ in totals.most_common(MAX_LABELS)}
    for pair, count in counts.items():
        gold, predicted = (label if label in kept else OTHERS for label in pair)
        shown[gold, predicted] += count
    labels = [
        *sorted(kept),
        *([OTHERS] if any(OTHERS in pair for pair in shown) else []),
    ]
    return (
        row.name,
        ["gold", *labels],
        [[gold, *(shown[gold, predicted] for predicted in labels)] for gold in labels],
    )


def _about(summary: Summary, command: str) -> dict[str, str]:
    records = [record for record in summary.all_records() if "failed" not in record]
    dates = sorted(
        str(record[key])[:10]
        for record in records
        for key in ("started", "finished")
        if key in record
    )
    versions = [
        ", ".join(f"{name} {it}" for name, it in record.get("versions", {}).items())
        for record in records
    ]
    found = {
        "Command": command,
        "Scale": summary.table.scale,
        "Date": " to ".join(dict.fromkeys([*dates[:1], *dates[-1:]])),
        "Versions": _distinct(versions),
        "Machine": _distinct(record["device"] for record in records),
        "Code": _distinct(record["commit"] for record in records),
    }
    return {name: value for name, value in found.items() if value}


def _distinct(values: Iterable[Any]) -> str:
    return "; ".join(dict.fromkeys(str(value) for value in values if value))
