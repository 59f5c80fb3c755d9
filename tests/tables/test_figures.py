"""The figures of tables: scores, shares of the training data, layer weights."""

from pathlib import Path

import pytest

from elmo_tasks.experiments.tables.figures import draw
from elmo_tasks.experiments.tables.results import Summary
from tests.tables.tables import LAST, finish, planner, row


def test_scores(tmp_path: Path) -> None:
    """Means and deviations, without scores that are missing or no shares of 1."""
    rows = [
        row("baseline"),
        row("elmo", row_label="SRL", column="baseline"),
        row("best", row_label="best", metric="best_epoch", column="baseline"),
        row("absent", column="absent", changes=LAST),
    ]
    planned = planner(tmp_path, rows)
    assert draw(Summary(planned, seeds=1)) == []
    for name, seed, f1 in (
        ("baseline", 1, 0.6),
        ("baseline", 2, 0.7),
        ("elmo", 1, 0.8),
    ):
        run = planned.run(planned.table.row(name), seed)
        finish(run, f1=f1, best_epoch=3.0, elmo_input_s0=1.0)
    (drawing,) = draw(Summary(planned, seeds=1))
    assert drawing.name == "scores"
    (bars,) = drawing.figure.axes[0].containers
    assert bars.get_label() == "baseline"
    assert bars.lines[0].get_xdata() == pytest.approx([65, 80])
    segments = bars.lines[2][0].get_segments()
    assert segments[0][:, 0] == pytest.approx([65 - 50**0.5, 65 + 50**0.5])


def test_layer_weights_are_means(tmp_path: Path) -> None:
    planned = planner(tmp_path, [row("baseline"), row("elmo")], figure="weights")
    assert draw(Summary(planned, seeds=1)) == []
    elmo = planned.table.row("elmo")
    for seed, weights in enumerate(([0.1, 0.2, 0.7], [0.3, 0.2, 0.5]), start=1):
        named = {f"elmo_input_s{layer}": weight for layer, weight in enumerate(weights)}
        finish(planned.run(elmo, seed), f1=0.5, **named)
    (weights,) = draw(Summary(planned, seeds=1))
    (axes,) = weights.figure.axes
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([0.2, 0.2, 0.6])
    assert [bar.get_x() for bar in axes.patches] == pytest.approx([0.0, 0.2, 0.4])


def test_figure1_has_a_line_for_each_row_over_ascending_shares(tmp_path: Path) -> None:
    share = {"data_loader.type": "elmo_tasks_share", "data_loader.share": 0.01}
    rows = [
        row("all", row_label=r"NER, \frac$ $", fraction=1.0),
        row("some", row_label=r"NER, \frac$ $", fraction=0.01, changes=share),
        row("baseline", row_label="NER, baseline", fraction=1.0),
    ]
    planned = planner(tmp_path, rows, figure="share")
    assert draw(Summary(planned, seeds=1)) == []
    for name, scores in (("all", [0.6, 0.7]), ("some", [0.1]), ("baseline", [0.8])):
        for seed, f1 in enumerate(scores, start=1):
            finish(planned.run(planned.table.row(name), seed), f1=f1)
    (drawing,) = draw(Summary(planned, seeds=1))
    assert drawing.image("svg").count(rb"\frac$ $") == 1, "not a formula"
    elmo, baseline = drawing.figure.axes[0].containers
    assert (elmo.get_label(), baseline.get_label()) == (r"\frac$ $", "baseline")
    assert elmo.lines[0].get_xydata().flatten() == pytest.approx([1, 10, 100, 65])
    assert elmo.lines[2][0].get_segments()[1][:, 1] == pytest.approx(
        [65 - 50**0.5, 65 + 50**0.5]
    )
