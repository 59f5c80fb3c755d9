"""The scores of a table as a picture, for `elmo-tasks ablate --figures`."""

from pathlib import Path
from statistics import mean, stdev

from elmo_tasks.experiments.tables.results import Summary
from elmo_tasks.system.files import atomic_write

INCHES = 0.3
"""The height of a row."""


def draw_scores(summary: Summary, file: Path) -> None:
    """
    A panel for each row of the table, a point for each column: the mean over seeds,
    with the standard deviation of several. Raises `InputError` if the file cannot be
    written.
    """
    from matplotlib.figure import Figure

    labels = list(dict.fromkeys(row.row_label for row in summary.rows))
    height = 1 + INCHES * (len(summary.rows) + 2 * len(labels))
    figure = Figure(figsize=(6, height), layout="constrained")
    panels = figure.subplots(len(labels), squeeze=False)[:, 0]
    for panel, label in zip(panels, labels, strict=True):
        for row in summary.rows:
            values = summary.values(row)
            if row.row_label == label and values:
                spread = stdev(values) if len(values) > 1 else 0
                panel.errorbar(
                    mean(values), row.column, xerr=spread, fmt="o", color="C0"
                )
                panel.set_xlabel(f"{row.metric}, mean ± deviation")
        panel.set_title(label)
        panel.invert_yaxis()
    figure.suptitle(summary.table.title)
    with atomic_write(file) as aside:
        figure.savefig(aside, format="png", dpi=150)
