import re
from html import unescape
from pathlib import Path

import pytest

from elmo_tasks.experiments.tables.figures import curve_charts, layer_weights, share_charts
from elmo_tasks.experiments.tables.report import report
from elmo_tasks.experiments.tables.results import Summary, body
from tests.tables.tables import LAST, fail, finish, planner, row


@pytest.fixture
def summary(tmp_path: Path) -> Summary:
    rows = [
        row("baseline", column="baseline", row_label="A & B"),
        row("elmo", column="ELMo", row_label="A & B"),
        row("last", column="last", row_label="A & B", changes=LAST),
        row("bad", column="bad", row_label="A & B", changes={"model.elmo.at": "output"}),
        row("cove", column="CoVe", row_label="C", needs=["/nowhere/cove.hdf5"]),
    ]
    planned = planner(tmp_path, rows, title="<Table>")
    baseline, elmo, last, bad, _ = planned.table.rows
    finish(planned.run(baseline, 1), curve=[0.1, 0.2], f1=0.2)
    for seed, weights in enumerate(([0.1, 0.2, 0.7], [0.3, 0.2, 0.5]), start=1):
        named = {f"elmo_input_s{layer}": weight for layer, weight in enumerate(weights)}
        finish(planned.run(elmo, seed), curve=[0.2, 0.2 + seed / 10], f1=0.2 + seed / 10, **named)
    finish(planned.run(last, 1), curve=[0.2], f1=0.2)
    file = planned.run(last, 1).folder / "result.json"
    file.write_text(file.read_text().replace("c" * 40, "version 0.1.0"))
    fail(planned.run(bad, 1), "ValueError: <nan>")
    return Summary(planned, seeds=1)


@pytest.fixture
def page(summary: Summary) -> str:
    return report(summary, "elmo-tasks ablate 'a <b>.jsonnet'")


def test_the_page_is_escaped_and_loads_nothing(page: str) -> None:
    assert not re.search(r"src=|href=|url\(|@import|<script|<link", page)
    assert "<h1>&lt;Table&gt;</h1>" in page and "<Table>" not in page
    assert "A &amp; B" in page and "ValueError: &lt;nan&gt;" in page and "<nan>" not in page


def test_the_page_has_all_cells_changes_scores_and_versions(summary: Summary, page: str) -> None:
    header, rows = body(summary)
    texts = [unescape(text).strip() for text in re.findall(r">([^<]+)<", page)]
    assert {cell for line in [header, *rows] for cell in line} <= {*texts, ""}
    assert 'model.elmo.mix: "weighted" -> "last"' in texts and "needs /nowhere/cove.hdf5" in texts
    assert "35.0 ± 7.1 (n=2)" in texts and "30.0, 40.0" in texts and "dev, ner/eng.testa" in texts
    difference = texts.index("model.elmo.at")
    assert texts[difference - 3 : difference + 3 : 2] == ["ner_elmo.jsonnet", "", 'nothing -> "input"']
    assert {"c" * 12, "version 0.1.0"} < set(texts)
    for text in ("elmo-tasks ablate 'a <b>.jsonnet'", "mini", "python 3.11.2, torch 2.13.0", "CPU, 1 thread"):
        assert text in texts[texts.index("How to reproduce") :]


def test_layer_weights_are_means_over_seeds(summary: Summary, page: str) -> None:
    (found,) = layer_weights(summary)
    assert (found.label, found.place, found.values) == ("elmo", "input", pytest.approx([0.2, 0.2, 0.6]))
    bars = re.findall(r'<rect class="layers (l\d)" x="([\d.]+)" y="17" width="([\d.]+)"', page)
    assert bars == [("l0", "0", "84.0"), ("l1", "84.0", "84.0"), ("l2", "168.0", "252.0")]


def test_curves_have_a_line_for_the_mean_and_one_for_each_seed(summary: Summary, page: str) -> None:
    (chart,) = curve_charts(summary)
    assert [(series.label, len(series.seeds)) for series in chart.series] == [("baseline", 0), ("elmo", 2), ("last", 0)]
    assert chart.series[1].points == [(1, 20.0, 0.0), (2, pytest.approx(35.0), 0.0)]
    lines = re.findall(r'<polyline class="(\w+ s\d)"', page)
    assert lines == ["line s0", "seed s1", "seed s1", "line s1", "line s2"]


def test_figure1_has_a_line_for_each_row_over_ascending_shares(tmp_path: Path) -> None:
    share = {"data_loader.type": "elmo_tasks_share", "data_loader.share": 0.01}
    rows = [
        row("all", row_label="NER, elmo", fraction=1.0),
        row("some", row_label="NER, elmo", fraction=0.01, changes=share),
        row("baseline", row_label="NER, baseline", fraction=1.0),
    ]
    planned = planner(tmp_path, rows, figure="share")
    assert share_charts(Summary(planned, seeds=1)) == []
    assert "<svg" not in report(Summary(planned, seeds=1), "")
    for name, scores in (("all", [0.6, 0.7]), ("some", [0.1]), ("baseline", [0.8])):
        for seed, f1 in enumerate(scores, start=1):
            finish(planned.run(planned.table.row(name), seed), f1=f1)
    (chart,) = share_charts(Summary(planned, seeds=1))
    elmo, baseline = chart.series
    assert (elmo.label, baseline.label, len(baseline.points)) == ("elmo", "baseline", 1)
    assert [(point.x, round(point.y, 6)) for point in elmo.points] == [(1.0, 10.0), (100.0, 65.0)]
    assert elmo.points[1].deviation == pytest.approx(50**0.5)
