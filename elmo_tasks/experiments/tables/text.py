"""Step 5: the results as Markdown, on the terminal and in `table.md`."""

import re
from collections.abc import Iterator
from statistics import mean, stdev

from elmo_tasks.experiments.markdown import aligned
from elmo_tasks.experiments.tables.results import Gain, Record, Summary
from elmo_tasks.experiments.tables.table import PASSES, Row
from elmo_tasks.training.metrics import Metric

NONE = "–"
MISSING = "missing"
FAILED = "failed"

LEGEND = (
    "Ours: mean ± standard deviation (n-1) over n seeds. SE: the standard error of an"
    " increase over seeds, if both scores have several."
)


def results(summary: Summary) -> str:
    """The title, the table in aligned columns, and the notes."""
    lines = [f"# {summary.table.title}", ""]
    if summary.table.about:
        lines += [summary.table.about, ""]
    lines += aligned([["", ""] + summary.columns] + body(summary))
    lines += ["", LEGEND, ""]
    lines += [f"- {remark}" for remark in remarks(summary)]
    return "\n".join(lines).rstrip()


def body(summary: Summary) -> list[list[str]]:
    """
    The lines of the table. Each row label has a line with our scores, then, unless they
    are empty, lines with the paper's scores, and the increases.
    """
    lines = []
    for label in dict.fromkeys([row.row_label for row in summary.rows]):
        shown = label
        for line in _lines(summary, label):
            if shown or not set(line[1:]) <= {"", NONE}:
                lines.append([shown] + line)
            shown = ""
    return lines


def _lines(summary: Summary, label: str) -> list[list[str]]:
    """The lines of a row label, each with what its numbers are."""
    over = summary.table.increase
    lines = [
        ["ours"],
        ["paper"],
        [f"ours: increase over {over} (SE); % of the error"],
        [f"paper: increase over {over}; % of the error"],
    ]
    base = summary.row(label, over) if over else None
    for column in summary.columns:
        row = summary.row(label, column)
        if row is None:
            cells = ["", "", "", ""]
        else:
            cells = [ours(summary, row), papers(row), "", ""]
            if base is not None and row is not base:
                gains = summary.gains(row, base)
                cells[2:] = [_increase(row.kind, gain) for gain in gains]
        for line, cell in zip(lines, cells, strict=True):
            line.append(cell)
    return lines


def ours(summary: Summary, row: Row) -> str:
    """
    Our score in a cell: `84.6 ± 0.2 (n=3)`; `missing` or `failed` without a score.
    """
    values = summary.values(row)
    has_failed = bool(summary.failures[row.name])
    if not values:
        return FAILED if has_failed else MISSING
    text = row.kind.text(mean(values))
    if len(values) > 1:
        text += f" ± {row.kind.text(stdev(values))}"
    seeds = f"n={len(values)}"
    if has_failed:
        seeds += ", some failed"
    return f"{text} ({seeds})"


def papers(row: Row) -> str:
    """The paper's score in a cell, with the digits that the paper gives."""
    if row.paper is None:
        return NONE
    if row.paper.mean is None:
        return row.paper.says or NONE
    text = f"{row.paper.mean:g}"
    if row.kind.is_share and "." not in text:
        text += ".0"
    if row.paper.deviation is not None:
        text += f" ± {row.paper.deviation:g}"
    return text


def _increase(metric: Metric, gain: Gain | None) -> str:
    """`+4.0 (1.2); 10.5%`, without what is not known."""
    if gain is None:
        return ""
    text = metric.signed(gain.absolute)
    if gain.error is not None:
        text += f" ({metric.text(gain.error)})"
    if gain.relative is not None:
        text += f"; {gain.relative:.1f}%"
    return text


def duration(seconds: float) -> str:
    """`40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def remarks(summary: Summary) -> list[str]:
    """
    Notes below the table: what is missing or failed, and what is not comparable, with
    the rows concerned.
    """
    found: dict[str, list[str]] = {}
    for row in summary.rows:
        for remark in (*_of_scores(summary, row), *_not_comparable(summary, row)):
            found.setdefault(remark, []).append(row.name)
    lines = []
    for remark, names in found.items():
        concerned = ", ".join(names)
        if len(names) == len(summary.rows) > 1:
            concerned = "all rows"
        lines.append(f"{concerned}: {remark}")
    commits = {str(record.get("commit", "")) for record in summary.all_records()}
    commits.discard("")  # of failures
    if len(commits) > 1:
        short = [re.sub(r"^(\w{12})\w+", r"\1", commit) for commit in sorted(commits)]
        lines.append(f"runs of {len(commits)} commits: {', '.join(short)}")
    changed = _changed_files(summary)
    if changed:
        lines.append(
            f"not comparable, this file changed between runs: {', '.join(changed)}"
        )
    return lines


def _changed_files(summary: Summary) -> list[str]:
    """The files of data, and models, of which two runs have read different versions."""
    digests: dict[str, set[str]] = {}
    for record in summary.all_records():
        for file, digest in record.get("inputs", {}).items():
            digests.setdefault(file, set()).add(digest)
    return [file for file, found in digests.items() if len(found) > 1]


def _of_scores(summary: Summary, row: Row) -> Iterator[str]:
    """Why scores of a row are missing."""
    records = summary.records[row.name]
    failures = summary.failures[row.name]
    if row.missing:
        yield f"missing: needs {', '.join(row.missing)}"
    elif not records and not failures:
        yield "missing: not run"
    for seed, reason in sorted(failures.items()):
        yield f"seed {seed} failed: {reason}"
    if not records or summary.values(row):
        return
    if row.metric == PASSES:
        yield "never, or the other row is missing"
    else:
        yield no_score(row, next(iter(records.values())))


def no_score(row: Row, record: Record) -> str:
    """What a run without a row's score has."""
    return f"no score {row.metric!r} among {', '.join(sorted(record['scores']))}"


def _not_comparable(summary: Summary, row: Row) -> Iterator[str]:
    if row.split != row.paper_split:
        yield f"scored on {row.split}, the paper's numbers are of {row.paper_split}"
    if row.paper is not None and summary.table.scale != "paper":
        yield "the paper's numbers are of other data: compare increases, not scores"
