"""The numbers of a table as text: on the terminal, in Markdown, and for the page."""

import re
from textwrap import wrap

from elmo_tasks.experiments.tables.results import (
    CellResult,
    Gain,
    Gains,
    Record,
    Summary,
    TableRow,
    score,
)
from elmo_tasks.experiments.tables.table import Row, Table
from elmo_tasks.tasks.metrics import Metric

NONE = "–"
MISSING = "missing"
FAILED = "failed"
GAP = "  "
"""Between two columns."""


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
    header = ["", ""] + summary.table.columns
    if summary.table.increase is not None and summary.table.increase.of is not None:
        header.append(_title_of_increases(summary.table, summary.table.increase.of))
    lines = []
    for row in summary.rows():
        label = row.label
        for line in _lines(summary, row):
            if label or not _is_empty(line):
                lines.append([label] + line)
            label = ""
    return header, lines


def _title_of_increases(table: Table, column: str) -> str:
    for row in table.rows:
        for cell in row.cells:
            if cell.column == column and cell.kind.is_share:
                return "increase, absolute / relative"
    return "increase"


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
        ours_text, papers_text = _both_gains(row.gains[increase.of])
        return [ours_line + [ours_text], papers_line + [papers_text]]
    ours_gains = [f"ours - {increase.over}"]
    papers_gains = [f"paper - {increase.over}"]
    for gains in row.gains.values():
        known = gains or Gains(Metric(), None, None)
        ours_gains.append(_absolute(known.metric, known.ours))
        papers_gains.append(_absolute(known.metric, known.paper))
    return [ours_line, papers_line, ours_gains, papers_gains]


def _is_empty(line: list[str]) -> bool:
    return set(line[1:]) <= {"", NONE}


def _both_gains(gains: Gains | None) -> tuple[str, str]:
    """Our and the paper's increase, `+4.0 / 10.5%`."""
    if gains is None:
        return "", ""
    metric, ours_gain, papers_gain = gains
    return _with_relative(metric, ours_gain), _with_relative(metric, papers_gain)


def _with_relative(metric: Metric, gain: Gain | None) -> str:
    if gain is None:
        return NONE
    text = metric.signed(gain.absolute)
    if gain.relative is not None:
        text += f" / {gain.relative:.1f}%"
    return text


def _absolute(metric: Metric, gain: Gain | None) -> str:
    if gain is None:
        return ""
    return metric.signed(gain.absolute)


def remarks(summary: Summary) -> list[str]:
    """
    Notes below the table: what is missing or failed, and what is not comparable, with
    the rows concerned.
    """
    count = len(summary.table.rows)
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
    for row in summary.table.rows:
        remarks = []
        for cell in row.cells:
            remarks += summary.result(row, cell).remarks
        for remark in dict.fromkeys(remarks):
            found.setdefault(remark, []).append(row.name)
    for row in summary.table.rows:
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


def terminal(summary: Summary, width: int | None = None) -> str:
    """
    The table in aligned columns, and the notes. In a terminal of this width, columns
    that do not fit continue below, and the notes are wrapped.
    """
    header, rows = body(summary)
    lines = [summary.table.title]
    for columns in _side_by_side(_widths([header] + rows), width):
        if len(lines) > 1:
            lines.append("")
        part = [[header[column] for column in columns]]
        for row in rows:
            cells = [row[column] for column in columns]
            if row[0] or set(cells[2:]) != {""}:
                part.append(cells)
        lines += _aligned(part)
    for remark in remarks(summary):
        lines += _wrapped(remark, width)
    return "\n".join(lines)


def _widths(rows: list[list[str]]) -> list[int]:
    """The width of each column."""
    widths = [0] * len(rows[0])
    for row in rows:
        for column, text in enumerate(row):
            widths[column] = max(widths[column], len(text))
    return widths


def _side_by_side(widths: list[int], width: int | None) -> list[list[int]]:
    """
    The columns of each part of a table that is too wide; all parts have the two columns
    that say what a line is, and at least one more.
    """
    labels = [0, 1]
    parts = [list(labels)]
    for column in range(len(labels), len(widths)):
        columns = parts[-1] + [column]
        needed = sum(widths[one] + len(GAP) for one in columns) - len(GAP)
        if width is not None and needed > width and parts[-1] != labels:
            parts.append(labels + [column])
        else:
            parts[-1] = columns
    return parts


def _aligned(rows: list[list[str]]) -> list[str]:
    """A line for each row, without blanks at its end."""
    widths = _widths(rows)
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        line = GAP.join([text.ljust(width) for text, width in cells])
        lines.append(line.rstrip())
    return lines


def _wrapped(text: str, width: int | None) -> list[str]:
    """The lines of a note; a word that is wider than the terminal stays whole."""
    if width is None:
        return [text]
    return wrap(
        text,
        width=max(width, 20),
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def markdown(summary: Summary) -> str:
    """The contents of `table.md`."""
    header, rows = body(summary)
    lines = [f"# {summary.table.title}", "", summary.table.about, ""]
    for row in [header, ["---"] * len(header)] + rows:
        cells = [cell.replace("|", "\\|") for cell in row]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "Ours: mean ± standard deviation (n-1) over n seeds.", ""]
    lines += [f"- {remark}" for remark in remarks(summary)]
    return "\n".join(lines).rstrip() + "\n"
