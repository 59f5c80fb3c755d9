"""The tables that `elmo-tasks probe` prints."""

from collections.abc import Sequence
from typing import Any

from elmo_tasks.experiments.markdown import aligned
from elmo_tasks.experiments.probes.mcnemar import Discordant
from elmo_tasks.experiments.probes.neighbors import Occurrence
from elmo_tasks.experiments.probes.pos import MAX_STEPS, PosReport
from elmo_tasks.experiments.probes.wsd import WsdReport
from elmo_tasks.experiments.published import published

_PAPER = "paper*"
TABLE_5_DATA = "Senseval-2 and -3, SemEval-2013 and -2015"
TABLE_6_DATA = "Penn Treebank, WSJ"
PAPER_ROWS = {
    "first sense": "WordNet 1st Sense Baseline",
    "biLM 1": "biLM, First Layer",
    "biLM 2": "biLM, Second Layer",
    "CoVe 1": "CoVe, First Layer",
    "CoVe 2": "CoVe, Second Layer",
}
"""The paper's rows of the first sense and of a source's layers."""


def _cell(value: Any) -> str:
    """Numbers have one decimal; None is `-`."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.1f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def _table(*rows: Sequence[Any]) -> str:
    """Aligned columns, of which the first row is the header."""
    cells = []
    for row in rows:
        cells.append([_cell(value) for value in row])
    return "\n".join(aligned(cells))


def wsd_table(report: WsdReport) -> str:
    """Table 5: F1 for each set and over several; precision and recall over the last."""
    sets = list(report.rows[0].scores)
    last = sets[-1]
    instances = [score.instances for score in report.rows[0].scores.values()]
    rows: list[list[Any]] = [["instances"] + instances + ["", "", ""]]
    for row in report.rows:
        scores = [score.f1 for score in row.scores.values()]
        over_all = row.scores[last]
        paper = _published("Table 5", row.name, "F1")
        rows.append([row.name] + scores + [over_all.precision, over_all.recall, paper])
    lines = [
        _table(["F1"] + sets + ["P", "R", _PAPER], *rows),
        f"P and R: {last}. *over {TABLE_5_DATA}, with the released biLM: other data",
        f"{report.senses:,} sense vectors from {report.instances:,} annotations; WordNet's first sense for"
        f" {report.first_sense_used:,} targets of other lemmas, no answer for {report.unanswered:,}",
    ]
    return "\n".join(lines + _discordant(report.discordant))


def _published(table: str, row: str, column: str) -> float | None:
    """The paper's score of a row of ours; `None` if the paper has no such row."""
    if row not in PAPER_ROWS:
        return None
    score: float = published(table)[PAPER_ROWS[row]][column]
    return score


def _discordant(pairs: Sequence[Discordant]) -> list[str]:
    """Lines with McNemar's exact test of each row and the next."""
    return [
        f"only {pair.one} right: {pair.only_one:,}, only {pair.other}: {pair.only_other:,}, p = {pair.p:.2g}"
        for pair in pairs
    ]


def pos_table(report: PosReport) -> str:
    """Table 6: accuracy on all tokens, on seen and on unseen words."""
    header = ["accuracy", "all", "seen words", "unseen words", _PAPER, "steps"]
    unseen = report.unseen_tokens
    seen = report.test_tokens - unseen
    rows: list[list[Any]] = [["tokens", report.test_tokens, seen, unseen, "", ""]]
    for row in report.rows:
        paper = _published("Table 6", row.name, "accuracy")
        scores = [row.accuracy, row.seen, row.unseen]
        rows.append([row.name] + scores + [paper, _steps(row.steps)])
    lines = [
        _table(header, *rows),
        f"*on {TABLE_6_DATA}, with the released biLM: other data",
        f"{report.tags} tags, {report.train_tokens:,} training tokens",
    ]
    return "\n".join(lines + _discordant(report.discordant))


def _steps(steps: int | None) -> str | None:
    """The steps of L-BFGS, and whether it was stopped before it converged."""
    if steps is None:
        return None
    if steps == MAX_STEPS:
        return f"{steps}, not converged"
    return str(steps)


def neighbors_table(
    word: str,
    source: Occurrence,
    found: Sequence[Occurrence],
    static: Any,
    *,
    vectors: Any,
    name: str,
) -> str:
    """
    Table 4: the source, its neighbours, and static neighbours if there are word
    vectors.
    """
    lines = [f"source: {_in_context(source)}", "", f"{name}, nearest by cosine:"]
    for occurrence in found:
        lines.append(f"  {occurrence.cosine:.3f}  {_in_context(occurrence)}")
    if not found:
        lines.append("  none: no other occurrence in the corpus")
    if vectors is not None:
        lines += ["", f"{vectors}:"]
        if static is None:
            lines.append(f"  no vector for {word!r}")
        else:
            words = [f"{other} {cosine:.3f}" for other, cosine in static]
            lines.append("  " + "  ".join(words))
    return "\n".join(lines)


def _in_context(occurrence: Occurrence) -> str:
    """Its number, and the sentence with the word in brackets."""
    words = list(occurrence.words)
    words[occurrence.position] = f"[{words[occurrence.position]}]"
    return f"({occurrence.number}) {' '.join(words)}"
