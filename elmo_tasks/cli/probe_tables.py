"""The tables that `elmo-tasks probe` prints."""

from collections.abc import Sequence
from typing import Any

from elmo_tasks.experiments.probes.mcnemar import Discordant
from elmo_tasks.experiments.probes.neighbors import Occurrence
from elmo_tasks.experiments.probes.pos import MAX_STEPS, PosReport, PosRow
from elmo_tasks.experiments.probes.wsd import WsdReport, WsdRow

_PAPER = "paper*"
TABLE_5_DATA = "Senseval-2 and -3, SemEval-2013 and -2015"
TABLE_5 = {"first sense": 65.9, "biLM 1": 67.4, "biLM 2": 69.0}
"""F1 of word senses over `TABLE_5_DATA`, by row: the source's name and the layer."""

TABLE_6_DATA = "Penn Treebank, WSJ"
TABLE_6 = {"biLM 1": 97.3, "biLM 2": 96.8}
"""Accuracy of parts of speech on `TABLE_6_DATA`."""


def table(header: Sequence[Any], rows: Sequence[Sequence[Any]]) -> str:
    """Aligned columns, the first to the left, numbers with one decimal; `-` for None."""
    columns = [
        [_cell(value) for value in column] for column in zip(header, *rows, strict=True)
    ]
    aligned = [
        [cell.rjust(max(map(len, column))) for cell in column] for column in columns
    ]
    aligned[0] = [cell.ljust(max(map(len, columns[0]))) for cell in columns[0]]
    return "\n".join("  ".join(row).rstrip() for row in zip(*aligned, strict=True))


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return (
        f"{value:.1f}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )


def wsd_table(report: WsdReport) -> str:
    """Table 5: F1 for each set and over several; precision and recall over the last."""
    sets = list(report.rows[0].scores)
    last = sets[-1]
    header = ["F1", *sets, "P", "R", _PAPER]
    rows = []
    for row in report.rows:
        scores = [score.f1 for score in row.scores.values()]
        rows.append(
            [
                row.name,
                *scores,
                row.scores[last].precision,
                row.scores[last].recall,
                TABLE_5.get(row.name),
            ]
        )
    instances = [score.instances for score in report.rows[0].scores.values()]
    lines = [
        table(header, [["instances", *instances, "", "", ""], *rows]),
        f"P and R: {last}. *over {TABLE_5_DATA}{_released(report.rows)}: other data",
        f"{report.senses:,} sense vectors from {report.instances:,} annotations; WordNet's first sense for"
        f" {report.first_sense_used:,} targets of other lemmas, no answer for {report.unanswered:,}",
    ]
    return "\n".join(lines + _discordant(report.discordant))


def _released(rows: Sequence[WsdRow] | Sequence[PosRow]) -> str:
    """A note for tables with biLM rows: the paper used the released biLM."""
    return (
        ", with the released biLM"
        if any(row.name.startswith("biLM") for row in rows)
        else ""
    )


def _discordant(pairs: Sequence[Discordant]) -> list[str]:
    """Lines with McNemar's exact test of each row and the next."""
    return [
        f"{pair.one} alone right: {pair.only_one:,}, {pair.other} alone: {pair.only_other:,}, p = {pair.p:.2g}"
        for pair in pairs
    ]


def pos_table(report: PosReport) -> str:
    """Table 6: accuracy on all tokens, on seen and on unseen words."""
    header = ["accuracy", "all", "seen words", "unseen words", _PAPER, "steps"]
    rows = []
    for row in report.rows:
        steps = (
            None
            if row.steps is None
            else f"{row.steps}" + (", not converged" if row.steps == MAX_STEPS else "")
        )
        rows.append(
            [row.name, row.accuracy, row.seen, row.unseen, TABLE_6.get(row.name), steps]
        )
    counts = [
        report.test_tokens,
        report.test_tokens - report.unseen_tokens,
        report.unseen_tokens,
    ]
    lines = [
        table(header, [["tokens", *counts, "", ""], *rows]),
        f"*on {TABLE_6_DATA}{_released(report.rows)}: other data",
        f"{report.tags} tags, {report.train_tokens:,} training tokens",
    ]
    return "\n".join(lines + _discordant(report.discordant))


def neighbors_table(
    word: str,
    source: Occurrence,
    found: Sequence[Occurrence],
    static: Any,
    *,
    vectors: Any,
    name: str,
) -> str:
    """Table 4: the source, its neighbours, and static neighbours if there are word vectors."""
    lines = [f"source: {_in_context(source)}", "", f"{name}, nearest by cosine:"]
    lines += [
        f"  {occurrence.cosine:.3f}  {_in_context(occurrence)}" for occurrence in found
    ]
    if not found:
        lines.append("  none: no other occurrence in the corpus")
    if vectors is not None:
        lines += ["", f"{vectors}:"]
        words = "  ".join(f"{other} {cosine:.3f}" for other, cosine in static or ())
        lines.append(
            f"  {words}" if static is not None else f"  no vector for {word!r}"
        )
    return "\n".join(lines)


def _in_context(occurrence: Occurrence) -> str:
    """Its number, and the sentence with the word in brackets."""
    words, place = occurrence.words, occurrence.place
    return " ".join(
        [
            f"({occurrence.number})",
            *words[:place],
            f"[{words[place]}]",
            *words[place + 1 :],
        ]
    )
