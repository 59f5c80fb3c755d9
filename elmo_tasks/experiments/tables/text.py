"""The table as text: on the terminal, and in Markdown."""

from collections import defaultdict

from elmo_tasks.experiments.tables.schema import Row
from elmo_tasks.experiments.tables.summary import Gain, Record, Shown, Summary, score

NONE = "–"
MISSING = "missing"
FAILED = "failed"


def our_score(cell: Shown) -> str:
    """`84.6 ± 0.2 (n=3)`; `missing` or `failed` without a score."""
    failed = any("failed" in remark for remark in cell.remarks)
    if cell.mean is None:
        return FAILED if failed else MISSING
    deviation = "" if cell.deviation is None else f" ± {cell.deviation:.1f}"
    return f"{cell.mean:.1f}{deviation} (n={len(cell.values)}{', some failed' if failed else ''})"


def paper_score(cell: Shown) -> str:
    """The paper's score with the digits that the paper gives."""
    paper = cell.paper
    if paper is None or paper.mean is None:
        return (paper and paper.says) or NONE
    mean = f"{paper.mean:g}"
    mean += ".0" if cell.percent and "." not in mean else ""
    return mean + ("" if paper.deviation is None else f" ± {paper.deviation:g}")


def signed(value: float | None) -> str:
    """A difference, such as `+0.3`."""
    return NONE if value is None else f"{round(value, 1) + 0.0:+.1f}"


def duration(seconds: float | None) -> str:
    """`40 s`, `12 min`, `3.5 h`; `unknown` for None."""
    if seconds is None:
        return "unknown"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def short_commit(commit: str) -> str:
    """The first 12 digits of a commit, with its `+`; `version 0.1.0` as it is."""
    return commit if commit.startswith("version") else commit[:12] + "+" * commit.endswith("+")


def run_scores(row: Row, record: Record) -> str:
    """`f1 84.6`: the scores of a run that its row shows."""
    return ", ".join(f"{cell.metric} {value:.1f}" for cell in row.cells if (value := score(record, cell)) is not None)


def body(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """
    Header and rows. Each row label has a row with our scores, then, unless they are empty, rows with the paper's
    scores, the difference if the data are the same, and the increases.
    """
    header = ["", "", *summary.table.columns]
    if summary.table.increase and summary.table.increase.of:
        header.append("increase, absolute / relative")
    rows = []
    for label in summary.table.row_labels:
        ours, *others = _rows(summary, label)
        rows += [[label, *ours[1:]], *(row for row in others if any(cell not in ("", NONE) for cell in row[2:]))]
    return header, rows


def _rows(summary: Summary, row_label: str) -> list[list[str]]:
    table = summary.table
    cells = [summary.cell(row_label, column) for column in table.columns]
    rows = [
        ["", "ours", *("" if cell is None else our_score(cell) for cell in cells)],
        ["", "paper", *("" if cell is None else paper_score(cell) for cell in cells)],
        ["", "difference", *(signed(cell.difference) if cell and cell.comparable else "" for cell in cells)],
    ]
    if table.increase is None:
        return rows
    if table.increase.of:
        gains = summary.gains(row_label, table.increase.of)
        return [[*row, text] for row, text in zip(rows, _gain_texts(*gains) if gains else ("", "", ""), strict=True)]
    increases = [summary.gains(row_label, column) or (None, None) for column in table.columns]
    for name, gains_of in zip(("ours", "paper"), zip(*increases, strict=True), strict=True):
        texts = ["" if gain is None else signed(gain.absolute) for gain in gains_of]
        rows.append(["", f"{name} - {table.increase.over}", *texts])
    return rows


def _gain_texts(ours: Gain | None, paper: Gain | None) -> tuple[str, str, str]:
    """`+4.7 / 24.9%` for both, and their difference."""
    first, second = (NONE if it is None else f"{signed(it.absolute)} / {it.relative:.1f}%" for it in (ours, paper))
    return first, second, signed(ours.absolute - paper.absolute if ours and paper else None)


def remarks(summary: Summary) -> list[str]:
    """Notes below the table: what is missing or failed, and what is not comparable, with the rows concerned."""
    rows = summary.table.rows
    notes: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        for remark in [remark for cell in row.cells for remark in summary.shown(row, cell).remarks]:
            notes[remark][row.name] = None
    for row in rows:
        if row.split != row.paper_split:
            notes[f"scored on {row.split}, the paper's numbers are of {row.paper_split}"][row.name] = None
        if summary.table.scale != "paper" and any(cell.paper for cell in row.cells):
            notes["the paper's numbers are of other data: compare increases, not scores"][row.name] = None
    lines = [f"{'all rows' if len(names) == len(rows) > 1 else ', '.join(names)}: {it}" for it, names in notes.items()]
    commits = sorted({str(record["commit"]) for record in summary.all_records() if "commit" in record})
    if len(commits) > 1:
        lines.append(f"runs of {len(commits)} commits: {', '.join(map(short_commit, commits))}")
    if any(commit.endswith("+") for commit in commits):
        lines.append("a + after a commit: with uncommitted changes")
    return lines


def terminal(summary: Summary) -> str:
    """The table in aligned columns, and the notes."""
    header, rows = body(summary)
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in [header, *rows]]
    return "\n".join([summary.table.title, *(line.rstrip() for line in lines), *remarks(summary)])


def markdown(summary: Summary) -> str:
    """The contents of `table.md`."""
    header, rows = body(summary)
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (header, ["---"] * len(header), *rows)]
    lines = [f"# {summary.table.title}", "", summary.table.about, "", *(f"| {' | '.join(row)} |" for row in cells), ""]
    lines += ["Ours: mean ± standard deviation (n-1) over n seeds.", "", *(f"- {it}" for it in remarks(summary))]
    return "\n".join(lines).rstrip() + "\n"
