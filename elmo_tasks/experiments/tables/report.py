"""
Step 5: a self-contained page with the table, what its rows change, figures, and how to
reproduce it.
"""

import os
from base64 import b64encode
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined

from elmo_tasks import resources
from elmo_tasks.experiments.tables.results import Record, Summary
from elmo_tasks.experiments.tables.table import Row
from elmo_tasks.experiments.tables.text import FAILED, MISSING, body, remarks

ROW_HEADER = ["row", "config", "changes", "scored on", "each seed"]
SCORES = (
    "Mean ± standard deviation (n−1) over n seeds;"
    " f1, accuracy, em, precision and recall are in percent."
)
ROWS = "Each row's config, what it changes there, what is scored, and the score of each seed."


def report(summary: Summary, command: str) -> str:
    """The page as HTML. `command` is the shell command that makes the same table."""
    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    template = environment.from_string(
        files(__package__).joinpath("report.html.jinja").read_text("utf-8")
    )
    # Matplotlib takes as long to import as AllenNLP.
    from elmo_tasks.experiments.tables.figures import draw

    header, lines = body(summary)
    rows = [_row(summary, row) for row in summary.table.rows]
    drawings = []
    for drawing in draw(summary):
        image = b64encode(drawing.image("svg")).decode()
        drawings.append((drawing.caption, image))
    return template.render(
        title=summary.table.title,
        description=summary.table.about,
        tables=[
            ("Results", SCORES, header, lines),
            ("Rows", ROWS, ROW_HEADER, rows),
        ],
        marked=(MISSING, FAILED),
        remarks=[_relative(remark) for remark in remarks(summary)],
        drawings=drawings,
        about=_about(summary, command),
    )


def _row(summary: Summary, row: Row) -> list[str]:
    config = summary.planner.resolved.get(row.name, {})
    scored_on: str = row.split
    data = row.file or config.get("validation_data_path")
    if data:
        scored_on += f", {_relative(str(data))}"
    scores = []
    for cell in row.cells:
        values = list(map(cell.kind.text, summary.result(row, cell).values))
        if values:
            scores.append(f"{cell.metric} {', '.join(values)}")
    changes = "\n".join(_changes(summary, row)) or "none"
    return [
        row.name,
        row.config.name,
        _relative(changes),
        scored_on,
        "\n".join(scores),
    ]


def _changes(summary: Summary, row: Row) -> list[str]:
    if row.missing:
        return [f"needs {file}" for file in row.missing]
    changes = []
    if row.ensemble is not None:
        members = f"{row.ensemble.members} runs of {row.ensemble.of}"
        changes.append(f"{row.ensemble.how} of {members}")
    if row.bilm_of is not None:
        changes.append(f"the biLM of {row.bilm_of}")
    return changes + summary.planner.differences(row)


def _relative(text: str) -> str:
    """The text with paths relative to the data root and the fixtures."""
    fixtures = resources.fixtures_root()
    for root in (resources.data_root(), fixtures / "miniworld", fixtures):
        text = text.replace(f"{root}{os.sep}", "")
    return text


def _about(summary: Summary, command: str) -> dict[str, str]:
    records = [record for record in summary.all_records() if "failed" not in record]
    found = {
        "Command": command,
        "Scale": summary.table.scale,
        "Date": _dates(records),
        "Versions": _distinct([_versions(record) for record in records]),
        "Machine": _distinct([record["device"] for record in records]),
        "Code": _distinct([record["commit"] for record in records]),
    }
    return {name: value for name, value in found.items() if value}


def _dates(records: list[Record]) -> str:
    """The first and the last day."""
    dates = []
    for record in records:
        for key in ("started", "finished"):
            if key in record:
                dates.append(str(record[key])[:10])
    if not dates:
        return ""
    first, last = min(dates), max(dates)
    if first == last:
        return first
    return f"{first} to {last}"


def _versions(record: Record) -> str:
    versions = record.get("versions", {})
    return ", ".join([f"{name} {version}" for name, version in versions.items()])


def _distinct(values: Iterable[Any]) -> str:
    known = [str(value) for value in values if value]
    return "; ".join(dict.fromkeys(known))
