"""The table for people: on the terminal, and in Markdown."""

from collections.abc import Callable

from elmo_tasks.ablation.summary import Increase, Shown, Summary

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
    return NONE if value is None else f"{value:+.1f}"


def gain(increase: Increase | None) -> str:
    """`+4.7 / 24.9%`, absolute and relative."""
    return NONE if increase is None else f"{increase.absolute:+.1f} / {increase.relative:.1f}%"


def body(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """
    Header and rows: of each line of the table one with ours, one with the paper's, one with the difference; these two
    only where the paper has something.
    """
    table = summary.table
    header = ["", "", *table.columns]
    if table.increase:
        header.append("increase, absolute / relative")
    rows = []
    for line in table.lines:
        mine, papers, apart = _line(summary, line)
        rows.append(mine)
        rows += [row for row in (papers, apart) if any(cell not in ("", NONE) for cell in row[2:])]
    return header, rows


def _line(summary: Summary, line: str) -> list[list[str]]:
    table = summary.table
    places = [summary.place(line, column) for column in table.columns]
    rows = [[line, "ours", *_each(places, ours)], ["", "paper", *_each(places, theirs)]]
    rows.append(["", "difference", *_each(places, lambda place: signed(place.difference))])
    if table.increase:
        mine, papers = summary.increase(line) or (None, None)
        apart = None if mine is None or papers is None else mine.absolute - papers.absolute
        for row, shown in zip(rows, (gain(mine), gain(papers), signed(apart)), strict=True):
            row.append(shown)
    return rows


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
