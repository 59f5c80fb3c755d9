"""The table for people: on the terminal, and in Markdown."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from elmo_tasks import settings
from elmo_tasks.ablation.summary import Increase, Record, Shown, Summary, score
from elmo_tasks.ablation.table import Row

NONE = "–"
MISSING = "missing"
FAILED = "failed"


def ours(place: Shown) -> str:
    """`84.6 ± 0.2 (n=3)`; `missing` or `failed` where there is no score."""
    if place.mean is None:
        return FAILED if any("failed" in remark for remark in place.remarks) else MISSING
    deviation = "" if place.deviation is None else f" ± {place.deviation:.1f}"
    lost = ", some failed" if any("failed" in remark for remark in place.remarks) else ""
    return f"{place.mean:.1f}{deviation} (n={len(place.values)}{lost})"


def theirs(place: Shown) -> str:
    """The paper's number, as it has it."""
    paper = place.paper
    if paper is None or paper.mean is None:
        return (paper and paper.says) or NONE
    mean = f"{paper.mean:g}"
    if place.percent and "." not in mean:
        mean += ".0"
    return mean + ("" if paper.deviation is None else f" ± {paper.deviation:g}")


def signed(value: float | None) -> str:
    """A difference."""
    return NONE if value is None else f"{round(value, 1) + 0.0:+.1f}"


def apart(place: Shown) -> str:
    """Ours less the paper's; empty where it would mean nothing."""
    return signed(place.difference) if place.comparable else ""


def gain(increase: Increase | None) -> str:
    """`+4.7 / 24.9%`, absolute and relative."""
    return NONE if increase is None else f"{signed(increase.absolute)} / {increase.relative:.1f}%"


def run_scores(row: Row, record: Record) -> str:
    """`f1 84.6`: of a row's metrics those that one of its runs has."""
    return ", ".join(f"{cell.metric} {value:.1f}" for cell in row.cells if (value := score(record, cell)) is not None)


def changes(differences: Mapping[str, tuple[Any, Any]]) -> list[str]:
    """For each of the differences `model.elmo.mix: "weighted" -> "last"`, or `model.elmo.at = "both"` for a new key."""
    lines = []
    for key, (old, new) in differences.items():
        before, after = ("nothing" if value is ... else json.dumps(value, ensure_ascii=False) for value in (old, new))
        lines.append(f"{key} = {after}" if old is ... else f"{key}: {before} -> {after}")
    return lines


def body(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """
    Header and rows: of each line of the table one with ours, one with the paper's, one with the difference where both
    are of the same data, and those with the increases. Rows in which nothing stands are left out.
    """
    table = summary.table
    header = ["", "", *table.columns]
    if table.increase and table.increase.of:
        header.append("increase, absolute / relative")
    rows = []
    for line in table.lines:
        mine, *others = _line(summary, line)
        rows += [mine, *(row for row in others if any(cell not in ("", NONE) for cell in row[2:]))]
    return header, rows


def _line(summary: Summary, line: str) -> list[list[str]]:
    table = summary.table
    places = [summary.place(line, column) for column in table.columns]
    rows = [
        ["", name, *_each(places, show)] for name, show in (("ours", ours), ("paper", theirs), ("difference", apart))
    ]
    rows[0][0] = line
    if table.increase is None:
        return rows
    if table.increase.of:
        both = summary.increase(line, table.increase.of)
        for row, cell in zip(rows, ("", "", "") if both is None else _gains(*both), strict=True):
            row.append(cell)
        return rows
    increases = [summary.increase(line, column) or (None, None) for column in table.columns]
    for name, each in zip(("ours", "paper"), zip(*increases, strict=True), strict=True):
        cells = ["" if increase is None else signed(increase.absolute) for increase in each]
        rows.append(["", f"{name} - {table.increase.over}", *cells])
    return rows


def _gains(mine: Increase | None, papers: Increase | None) -> tuple[str, str, str]:
    between = None if mine is None or papers is None else mine.absolute - papers.absolute
    return gain(mine), gain(papers), signed(between)


def remarks(summary: Summary) -> list[str]:
    """What is missing or failed, and what else one should know, a line each, with the rows of which it is true."""
    rows = summary.table.rows
    told: dict[str, dict[str, None]] = {}
    for row in rows:
        for remark in [remark for cell in row.cells for remark in summary.shown(row, cell).remarks]:
            told.setdefault(remark, {})[row.name] = None
    for row in rows:
        if row.split != row.paper_split:
            told.setdefault(f"scored on {row.split}, the paper's numbers are of {row.paper_split}", {})[row.name] = None
        if settings.scale() != "paper" and any(cell.paper for cell in row.cells):
            told.setdefault("the paper's numbers are of other data: compare increases, not scores", {})[row.name] = None
    lines = [f"{'all rows' if len(names) == len(rows) > 1 else ', '.join(names)}: {it}" for it, names in told.items()]
    commits = {record["commit"] for record in summary.all_records() if "commit" in record}
    if len(commits) > 1:
        lines.append(f"runs of {len(commits)} states of the code: {', '.join(sorted(c[:12] for c in commits))}")
    if any(str(commit).endswith("+") for commit in commits):
        lines.append("a + behind a commit: the code had changes that were not committed")
    return lines


def terminal(summary: Summary) -> str:
    """The table in aligned columns, and the remarks."""
    header, rows = body(summary)
    widths = [max(len(row[place]) for row in [header, *rows]) for place in range(len(header))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in [header, *rows]]
    return "\n".join([summary.table.title, *(line.rstrip() for line in lines), *remarks(summary)])


def markdown(summary: Summary) -> str:
    """`table.md`."""
    header, rows = body(summary)
    lines = [f"# {summary.table.title}", "", summary.table.about, ""]
    lines += [_row(header), _row(["---"] * len(header)), *(_row(row) for row in rows), ""]
    lines += ["Ours: mean ± standard deviation (n-1) over n seeds.", ""]
    lines += [f"- {remark}" for remark in remarks(summary)]
    return "\n".join(lines).rstrip() + "\n"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _each(places: list[Shown | None], show: Callable[[Shown], str]) -> list[str]:
    return ["" if place is None else show(place) for place in places]
