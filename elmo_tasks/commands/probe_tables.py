"""The tables that `allennlp probe` prints."""

from collections.abc import Sequence
from typing import Any

from elmo_tasks.probing.neighbors import Occurrence
from elmo_tasks.probing.paper import TABLE_5, TABLE_5_DATA, TABLE_6, TABLE_6_DATA
from elmo_tasks.probing.pos import PosReport, PosRow
from elmo_tasks.probing.wsd import WsdReport, WsdRow

_PAPER = "paper*"
_SHOWN = 12
"""Words on either side of a neighbour."""


def table(header: Sequence[Any], rows: Sequence[Sequence[Any]]) -> str:
    """Columns as wide as they need, the first from the left; numbers with one decimal, `-` where there is none."""
    cells = [[_cell(value) for value in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(_padded(row, widths)).rstrip() for row in cells)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _padded(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *rest = zip(row, widths, strict=True)
    return [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]


def wsd_table(report: WsdReport) -> str:
    """Table 5: F1 by set and over several, with precision and recall of all."""
    sets = list(report.rows[0].scores)
    last = sets[-1]
    header = ["F1", *sets, "P", "R", _PAPER]
    rows = []
    for row in report.rows:
        scores = [score.f1 for score in row.scores.values()]
        rows.append([row.name, *scores, row.scores[last].precision, row.scores[last].recall, TABLE_5.get(row.name)])
    instances = [score.instances for score in report.rows[0].scores.values()]
    lines = [
        table(header, [["instances", *instances, "", "", ""], *rows]),
        f"P and R are of {last}. *over {TABLE_5_DATA}{_released(report.rows)}: other data",
        f"{report.senses:,} sense vectors from {report.instances:,} annotations; {report.first_sense_used:,} targets of"
        f" lemmas without one took WordNet's first sense, {report.unanswered:,} had none",
    ]
    return "\n".join(lines + _shared(report.shared))


def _released(rows: Sequence[WsdRow] | Sequence[PosRow]) -> str:
    """What the paper's figures for the layers of these rows are of, where that need not be what ours are of."""
    return ", with the released biLM" if any(row.name.startswith("biLM") for row in rows) else ""


def _shared(shares: dict[str, float]) -> list[str]:
    return [f"{share:.1%} of the sentences of {name} are in the training file" for name, share in shares.items()]


def pos_table(report: PosReport) -> str:
    """Table 6: accuracy over all tokens, over those of seen and of unseen words."""
    header = ["accuracy", "all", "seen words", "unseen words", _PAPER, "training loss", "steps"]
    rows = []
    for row in report.rows:
        ending = [None, None] if row.fitted is None else [f"{row.fitted.loss:.4f}", _steps(row.fitted)]
        rows.append([row.name, row.accuracy, row.seen, row.unseen, TABLE_6.get(row.name), *ending])
    counts = [report.test_tokens, report.test_tokens - report.unseen_tokens, report.unseen_tokens]
    lines = [
        table(header, [["tokens", *counts, "", "", ""], *rows]),
        f"*on {TABLE_6_DATA}{_released(report.rows)}: other data",
        f"{report.tags} tags, {report.train_tokens:,} training tokens",
    ]
    return "\n".join(lines + _shared({"the test file": report.shared}))


def _steps(fitted: Any) -> str:
    return f"{fitted.steps}" if fitted.converged else f"{fitted.steps}, not converged"


def neighbors_table(
    word: str, source: Occurrence, found: Sequence[Occurrence], static: Any, *, vectors: Any, name: str
) -> str:
    """Table 4: the source, its neighbours, and the static ones where a file of word vectors was given."""
    lines = [f"source: {_number(source)}{_shown(source)}", "", f"{name}, nearest by cosine:"]
    lines += [f"  {occurrence.cosine:.3f}  {_number(occurrence)}{_shown(occurrence)}" for occurrence in found]
    if not found:
        lines.append("  none: the corpus has no other occurrence")
    if vectors is not None:
        lines += ["", f"{vectors}:"]
        words = "  ".join(f"{other} {cosine:.3f}" for other, cosine in static or ())
        lines.append(f"  {words}" if static is not None else f"  it has no vector of {word!r}")
    return "\n".join(lines)


def _number(occurrence: Occurrence) -> str:
    return "" if occurrence.number is None else f"({occurrence.number}) "


def _shown(occurrence: Occurrence) -> str:
    """The sentence with the word in brackets, cut on both sides where it is long."""
    words, place = occurrence.words, occurrence.place
    before, after = words[max(0, place - _SHOWN) : place], words[place + 1 : place + 1 + _SHOWN]
    left = ["..."] if place > _SHOWN else []
    right = ["..."] if place + 1 + _SHOWN < len(words) else []
    return " ".join([*left, *before, f"[{words[place]}]", *after, *right])
