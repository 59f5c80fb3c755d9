"""
Step 5: the results as Markdown, on the terminal and in `table.md`, which also has what
the rows change and how to reproduce them.
"""

import os
import re
from collections.abc import Iterable
from typing import Any

from elmo_tasks import resources
from elmo_tasks.experiments.tables.results import (
    CellResult,
    Gain,
    Gains,
    Record,
    Summary,
    TableRow,
    score,
)
from elmo_tasks.experiments.tables.table import Row
from elmo_tasks.tasks.metrics import Metric

NONE = "–"
MISSING = "missing"
FAILED = "failed"

LEGEND = (
    "Ours: mean ± standard deviation (n-1) over n seeds. SE: the standard error of an"
    " increase over seeds, if both scores have several."
)


def markdown(summary: Summary, command: str) -> str:
    """The contents of `table.md`. `command` is what makes the same table."""
    lines = [results(summary), "", "## Rows", ""]
    for row in summary.rows:
        lines += _about_row(summary, row)
    lines += ["", "## How to reproduce", ""]
    for name, value in _about_runs(summary, command).items():
        lines.append(f"- {name}: {value}")
    return "\n".join(lines) + "\n"


def results(summary: Summary) -> str:
    """The title, the table in aligned columns, and the notes."""
    header, rows = body(summary)
    lines = [f"# {summary.table.title}", ""]
    if summary.table.about:
        lines += [summary.table.about, ""]
    lines += _aligned([header] + rows)
    lines += ["", LEGEND, ""]
    lines += [f"- {remark}" for remark in remarks(summary)]
    return "\n".join(lines).rstrip()


def ours(cell: CellResult | None) -> str:
    """
    Our score in a cell, if there is one: `84.6 ± 0.2 (n=3)`; `missing` or `failed`
    without a score.
    """
    if cell is None:
        return ""
    if cell.mean is None:
        return FAILED if cell.failed else MISSING
    text = cell.metric.text(cell.mean)
    if cell.deviation is not None:
        text += f" ± {cell.metric.text(cell.deviation)}"
    seeds = f"n={len(cell.values)}"
    if cell.failed:
        seeds += ", some failed"
    return f"{text} ({seeds})"


def papers(cell: CellResult | None) -> str:
    """
    The paper's score in a cell, if there is one, with the digits that the paper gives.
    """
    if cell is None:
        return ""
    if cell.paper is None:
        return NONE
    if cell.paper.mean is None:
        return cell.paper.says or NONE
    text = f"{cell.paper.mean:g}"
    if cell.metric.is_share and "." not in text:
        text += ".0"
    if cell.paper.deviation is not None:
        text += f" ± {cell.paper.deviation:g}"
    return text


def duration(seconds: float | None) -> str:
    """`40 s`, `12 min`, `3.5 h`; `unknown` for None."""
    if seconds is None:
        return "unknown"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def run_scores(row: Row, record: Record) -> str:
    """`f1 84.6`: the scores of a run that its row shows."""
    texts = []
    for cell in row.cells:
        value = score(record, cell)
        if value is not None:
            texts.append(f"{cell.metric} {cell.kind.text(value)}")
    return ", ".join(texts)


def body(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """
    Header and lines. Each row label has a line with our scores, then, unless they are
    empty, lines with the paper's scores, and the increases.
    """
    header = ["", ""] + summary.columns
    if _has_column_of_increases(summary):
        header.append("increase (SE); % of the error")
    lines = []
    for row in summary.lines():
        label = row.label
        for line in _lines(summary, row):
            if label or not set(line[1:]) <= {"", NONE}:
                lines.append([label] + line)
            label = ""
    return header, lines


def _has_column_of_increases(summary: Summary) -> bool:
    increase = summary.table.increase
    return increase is not None and increase.of in summary.columns


def _lines(summary: Summary, row: TableRow) -> list[list[str]]:
    """The lines of a row label, each with what its numbers are."""
    ours_line = ["ours"]
    papers_line = ["paper"]
    for cell in row.cells.values():
        ours_line.append(ours(cell))
        papers_line.append(papers(cell))
    increase = summary.table.increase
    if increase is None:
        return [ours_line, papers_line]
    if increase.of is not None:
        gains = row.gains.get(increase.of)
        if gains is not None:
            ours_line.append(_with_relative(gains.metric, gains.ours))
            papers_line.append(_with_relative(gains.metric, gains.paper))
        elif _has_column_of_increases(summary):
            ours_line.append("")
            papers_line.append("")
        return [ours_line, papers_line]
    ours_gains = [f"ours: increase over {increase.over} (SE)"]
    papers_gains = [f"paper: increase over {increase.over}"]
    for gains in row.gains.values():
        known = gains or Gains(Metric(), None, None)
        ours_gains.append(_absolute(known.metric, known.ours))
        papers_gains.append(_absolute(known.metric, known.paper))
    return [ours_line, papers_line, ours_gains, papers_gains]


def _with_relative(metric: Metric, gain: Gain | None) -> str:
    """`+4.0 (1.2); 10.5%`."""
    if gain is None:
        return NONE
    text = _absolute(metric, gain)
    if gain.relative is not None:
        text += f"; {gain.relative:.1f}%"
    return text


def _absolute(metric: Metric, gain: Gain | None) -> str:
    """`+4.0 (1.2)`, without the standard error if it is not known."""
    if gain is None:
        return ""
    text = metric.signed(gain.absolute)
    if gain.error is not None:
        text += f" ({metric.text(gain.error)})"
    return text


def _aligned(rows: list[list[str]]) -> list[str]:
    """A Markdown table, with columns of one width; the first row is the header."""
    cells = []
    for row in rows:
        cells.append([text.replace("|", "\\|") for text in row])
    widths = []
    for column in zip(*cells, strict=True):
        widths.append(max(map(len, column)))
    lines = []
    for row in cells:
        padded = [text.ljust(width) for text, width in zip(row, widths, strict=True)]
        lines.append(f"| {' | '.join(padded)} |")
    rule = ["-" * max(width, 3) for width in widths]
    lines.insert(1, f"| {' | '.join(rule)} |")
    return lines


def remarks(summary: Summary) -> list[str]:
    """
    Notes below the table: what is missing or failed, and what is not comparable, with
    the rows concerned.
    """
    count = len(summary.rows)
    lines = []
    for remark, names in _rows_of_remarks(summary).items():
        concerned = ", ".join(names)
        if len(names) == count > 1:
            concerned = "all rows"
        lines.append(f"{concerned}: {remark}")
    return lines + _remarks_on_commits(summary)


def _rows_of_remarks(summary: Summary) -> dict[str, list[str]]:
    """The names of the rows that have each remark."""
    found: dict[str, list[str]] = {}
    for row in summary.rows:
        remarks = []
        for cell in row.cells:
            remarks += summary.result(row, cell).remarks
        for remark in dict.fromkeys(remarks):
            found.setdefault(remark, []).append(row.name)
    for row in summary.rows:
        for remark in _not_comparable(summary, row):
            found.setdefault(remark, []).append(row.name)
    return found


def _not_comparable(summary: Summary, row: Row) -> list[str]:
    found = []
    if row.split != row.paper_split:
        found.append(
            f"scored on {row.split}, the paper's numbers are of {row.paper_split}"
        )
    has_paper = any(cell.paper is not None for cell in row.cells)
    if has_paper and summary.table.scale != "paper":
        found.append(
            "the paper's numbers are of other data: compare increases, not scores"
        )
    return found


def _remarks_on_commits(summary: Summary) -> list[str]:
    records = summary.all_records()
    commits = {str(record["commit"]) for record in records if "commit" in record}
    lines = []
    if len(commits) > 1:
        short = [re.sub(r"^(\w{12})\w+", r"\1", commit) for commit in sorted(commits)]
        lines.append(f"runs of {len(commits)} commits: {', '.join(short)}")
    if any(commit.endswith("+") for commit in commits):
        lines.append("a + after a commit: with uncommitted changes")
    return lines


def _about_row(summary: Summary, row: Row) -> list[str]:
    """A row's config, what is scored, the score of each seed, and its changes."""
    config = summary.planner.resolved.get(row.name, {})
    parts = [row.config.name, f"scored on {row.split}"]
    data = row.file or config.get("validation_data_path")
    if data:
        parts[-1] += f" ({_relative(str(data))})"
    for cell in row.cells:
        values = list(map(cell.kind.text, summary.result(row, cell).values))
        if values:
            parts.append(f"{cell.metric} {', '.join(values)}")
    lines = [f"- {row.name}: {'; '.join(parts)}"]
    for change in _changes(summary, row):
        lines.append(f"  - {_relative(change)}")
    return lines


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


def _about_runs(summary: Summary, command: str) -> dict[str, str]:
    records = [record for record in summary.all_records() if "failed" not in record]
    dates = sorted([record["finished"][:10] for record in records])
    found = {
        "Command": f"`{command}`",
        "Scale": summary.table.scale,
        "Date": " to ".join(dict.fromkeys(dates[:1] + dates[-1:])),
        "Versions": _distinct([_versions(record) for record in records]),
        "Machine": _distinct([record["device"] for record in records]),
        "Code": _distinct([record["commit"] for record in records]),
    }
    return {name: value for name, value in found.items() if value}


def _versions(record: Record) -> str:
    versions = record["versions"]
    return ", ".join([f"{name} {version}" for name, version in versions.items()])


def _distinct(values: Iterable[Any]) -> str:
    return "; ".join(dict.fromkeys(map(str, values)))
