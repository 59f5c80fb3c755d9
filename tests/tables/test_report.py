import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.experiments.tables.figures import draw
from elmo_tasks.experiments.tables.report import report
from elmo_tasks.experiments.tables.results import Summary
from elmo_tasks.experiments.tables.text import body
from tests.tables.tables import LAST, fail, finish, planner, row


@pytest.fixture
def summary(tmp_path: Path) -> Summary:
    rows = [
        row("baseline", column="baseline", row_label="A & B"),
        row("elmo", column="ELMo", row_label="A & B"),
        row("last", column="last", row_label="A & B", changes=LAST),
        row(
            "bad", column="bad", row_label="A & B", changes={"model.elmo.at": "output"}
        ),
        row("cove", column="CoVe", row_label="C", needs=["/nowhere/cove.hdf5"]),
    ]
    planned = planner(tmp_path, rows, title="<Table>")
    baseline, elmo, last, bad, _ = planned.table.rows
    finish(planned.run(baseline, 1), curve=[0.1, 0.2], f1=0.2)
    for seed, weights in enumerate(([0.1, 0.2, 0.7], [0.3, 0.2, 0.5]), start=1):
        named = {f"elmo_input_s{layer}": weight for layer, weight in enumerate(weights)}
        finish(
            planned.run(elmo, seed),
            curve=[0.2, 0.2 + seed / 10],
            f1=0.2 + seed / 10,
            **named,
        )
    finish(planned.run(last, 1), curve=[0.2], f1=0.2)
    fail(planned.run(bad, 1), "ValueError: <nan>")
    return Summary(planned, seeds=1)


def test_the_page_is_escaped_complete_and_loads_nothing(summary: Summary) -> None:
    page = report(summary, "elmo-tasks ablate 'a <b>.jsonnet'")
    assert not re.search(r"src=\"(?!data:)|href=|url\(|@import|<script|<link", page)
    assert (
        "<h1>&lt;Table&gt;</h1>" in page
        and "<Table>" not in page
        and "<nan>" not in page
    )
    header, rows = body(summary)
    texts = [unescape(text).strip() for text in re.findall(r">([^<]+)<", page)]
    for line in [header] + rows:
        assert set(line) <= set(texts + [""])
    changed = [text for text in texts if text.startswith("model.elmo.l2: ")][0]
    assert (
        'model.elmo.mix: "weighted" -> "last"' in changed
        and "needs /nowhere/cove.hdf5" in texts
    )
    assert {
        "f1 30.0, 40.0",
        "dev, ner/eng.testa",
        "bad: seed 1 failed: ValueError: <nan>",
    } < set(texts)
    for text in (
        "elmo-tasks ablate 'a <b>.jsonnet'",
        "mini",
        "python 3.11.2, torch 2.13.0",
        "CPU, 1 thread",
    ):
        assert text in texts[texts.index("How to reproduce") :]


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 900, 1600])
def test_the_page_fits_its_window(width: int, browser: Any, tmp_path: Path) -> None:
    """
    Text uses the width, a table wider than the window scrolls by itself, and ELMo that
    is left out is one line among the changes.
    """
    rows = [
        row("elmo", column="ELMo", paper={"mean": 92.22, "deviation": 0.1}),
        row("none", column="none", changes={"model.elmo": None}, paper=90.15),
        row("lost", column="lost", needs=[f"/nowhere/{'cove/' * 60}.hdf5"]),
    ]
    planned = planner(tmp_path, rows, about="A sentence of this table. " * 40)
    for one in planned.table.rows[:2]:
        for seed in (1, 2, 3):
            finish(planned.run(one, seed), f1=0.5 + seed / 100)
    file = tmp_path / "report.html"
    file.write_text(report(Summary(planned, seeds=3), "elmo-tasks ablate x"))
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    inner = page.evaluate("document.querySelector('h1').clientWidth")
    assert page.evaluate("document.querySelector('p').clientWidth") == inner
    if width > 360:
        cell = page.get_by_role("cell", name="model.elmo: {...} -> null")
        assert cell.evaluate(LINES) == 1
    page.close()


LINES = """cell => {
  const text = document.createRange();
  text.selectNodeContents(cell);
  return new Set([...text.getClientRects()].map(box => box.top)).size;
}"""
"""On how many lines the text of a cell stands."""


def test_layer_weights_are_means(summary: Summary) -> None:
    (weights,) = draw(summary)
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
