"""The report and its figures."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.ablation.figures import Chart, Point, Series, curve_charts, layer_weights, share_charts
from elmo_tasks.ablation.report import report
from elmo_tasks.ablation.summary import Summary
from elmo_tasks.ablation.text import body
from tests.ablation.tables import LAST, fail, finish, planner, row

VOID = {"meta", "br", "path", "polyline", "circle", "rect"}


def summary_of(folder: Path) -> Summary:
    rows = [
        row("baseline", column="baseline", row_label="A & B", paper=90.15),
        row("elmo", column="ELMo", row_label="A & B", paper=92.22),
        row("last", column="last", row_label="A & B", changes=LAST),
        row("bad", column="bad", row_label="A & B", changes={"model.elmo.at": "output"}),
        row("cove", column="CoVe", row_label="C", needs=["/nowhere/cove.hdf5"]),
    ]
    planned = planner(folder, rows, title="<Table>", increase={"of": "ELMo", "over": "baseline"})
    table = planned.table
    finish(planned.run(table.row("baseline"), 1), curve=[0.1, 0.2], f1=0.2)
    for seed, weights in enumerate(([0.1, 0.2, 0.7], [0.3, 0.2, 0.5]), start=1):
        named = {f"elmo_{place}_s{layer}": w for place in ("input", "output") for layer, w in enumerate(weights)}
        finish(planned.run(table.row("elmo"), seed), curve=[0.2, 0.2 + seed / 10], f1=0.2 + seed / 10, **named)
    finish(planned.run(table.row("last"), 1), curve=[0.2], f1=0.2, seconds=200.0)
    fail(planned.run(table.row("bad"), 1), "ValueError: <nan>")
    return Summary(planned, seeds=1)


@pytest.fixture
def summary(tmp_path: Path) -> Summary:
    return summary_of(tmp_path)


@pytest.fixture
def page(summary: Summary) -> str:
    return report(summary, "allennlp ablate 'a <b>.jsonnet'")


class Elements(HTMLParser):
    """What a page loads, its texts, and tags that are not closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.texts: list[str] = []
        self.wrong: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.wrong += self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loaded += [value or "" for name, value in attrs if name in ("src", "href", "action", "data")]
        self.loaded += [tag] if tag in ("script", "link", "iframe") else []
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.wrong.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


def test_the_page_needs_nothing_else(page: str) -> None:
    elements = Elements(page)
    assert elements.loaded == [] and elements.wrong == []
    assert "url(" not in page and "@import" not in page and "<svg" in page


def test_everything_is_escaped(page: str) -> None:
    assert "<h1>&lt;Table&gt;</h1>" in page and "<Table>" not in page
    assert "A &amp; B" in page and "A & B" not in page
    assert "ValueError: &lt;nan&gt;" in page and "<nan>" not in page and "a &lt;b&gt;.jsonnet" in page


def test_the_page_and_the_other_tables_have_the_same_cells(summary: Summary, page: str) -> None:
    header, rows = body(summary)
    texts = Elements(page).texts
    assert {cell for line in [header, *rows] for cell in line} <= {*texts, ""}
    assert "35.0 ± 7.1 (n=2)" in texts and texts.count("60 s") == 3 and texts.count("3 min") == 1


def test_rows_show_what_they_change_and_each_seed(page: str) -> None:
    texts = Elements(page).texts
    assert 'model.elmo.mix: "weighted" -> "last"' in texts and "dev, ner/eng.testa" in texts
    assert "f1 35.0 ± 7.1 (n=2)" in texts and "30.0, 40.0" in texts
    assert any(text.startswith('ner.jsonnet with model.elmo.at = "input"; ') for text in texts)
    assert "needs /nowhere/cove.hdf5" in texts and "failed: ValueError: <nan>" in texts


def test_the_page_shows_how_to_reproduce_it(page: str) -> None:
    texts = Elements(page).texts
    about = [text for text in texts[texts.index("How to reproduce") :] if text]
    known = {"Scale": "mini", "Date": "2026-11-20 to 2026-11-21", "Versions": "python 3.11.2, torch 2.13.0"}
    known |= {"Command": "allennlp ablate 'a <b>.jsonnet'", "Machine": "CPU, 1 thread", "Code": "c" * 40}
    assert known.items() <= dict(zip(about[1::2], about[2::2], strict=True)).items()


def test_layer_weights_are_means_over_seeds_of_each_place(summary: Summary, page: str) -> None:
    found = layer_weights(summary)
    assert [(weights.label, weights.place) for weights in found] == [("elmo", "input"), ("elmo", "output")]
    assert found[0].values == pytest.approx([0.2, 0.2, 0.6])
    bars = re.findall(r'<rect class="layers (l\d)" x="([\d.]+)" y="17" width="([\d.]+)"', page)
    assert bars == [("l0", "0", "84.0"), ("l1", "84.0", "84.0"), ("l2", "168.0", "252.0")]


def test_curves_have_a_line_for_the_mean_and_one_for_each_seed(summary: Summary, page: str) -> None:
    (chart,) = curve_charts(summary)
    assert chart.caption.startswith("A & B: f1 on the development data after each epoch")
    assert [(series.label, len(series.seeds)) for series in chart.series] == [("baseline", 0), ("elmo", 2), ("last", 0)]
    assert chart.series[1].points == [(1, 20.0, 0.0), (2, pytest.approx(35.0), 0.0)]
    lines = re.findall(r'<polyline class="(\w+ s\d)" stroke-dasharray="(.*?)"', page)
    assert [line for line, _ in lines] == ["line s0", "seed s1", "seed s1", "line s1", "line s2"]
    assert lines[1][1] == lines[3][1] != lines[0][1]


def test_no_result_gives_a_page_without_figures(tmp_path: Path) -> None:
    summary = Summary(planner(tmp_path, [row("elmo", fraction=1.0)], figure="share"), seeds=1)
    page = report(summary, "")
    assert share_charts(summary) == [] and "<svg" not in page and "missing" in page
    assert Elements(page).wrong == []


def test_figure1_has_a_line_for_each_row_over_ascending_shares(tmp_path: Path) -> None:
    rows = [
        row(
            f"{kind}-{share}",
            row_label=f"NER, {kind}",
            fraction=share,
            changes={"data_loader.type": "elmo_tasks_share"} | {"data_loader.share": share},
        )
        for kind in ("baseline", "elmo")
        for share in (1.0, 0.01)
    ]
    planned = planner(tmp_path, rows, figure="share")
    for name, scores in (("baseline-1.0", [0.6, 0.7]), ("baseline-0.01", [0.1]), ("elmo-1.0", [0.8])):
        for seed, f1 in enumerate(scores, start=1):
            finish(planned.run(planned.table.row(name), seed), f1=f1)
    summary = Summary(planned, seeds=1)
    (chart,) = share_charts(summary)
    baseline, elmo = chart.series
    assert (baseline.label, elmo.label, len(elmo.points)) == ("baseline", "elmo", 1)
    assert [(point.x, round(point.y, 6)) for point in baseline.points] == [(1.0, 10.0), (100.0, 65.0)]
    assert baseline.points[1].deviation == pytest.approx(50**0.5)
    assert "the paper&#39;s Figure 1" in report(summary, "")


def chart(*points: tuple[float, float], **keys: Any) -> Chart:
    return Chart("", "", "", [Series("", [Point(*point) for point in points], [])], **keys)


@pytest.mark.parametrize(
    ("given", "x_ticks", "y_ticks"),
    [
        (chart((1, 20), (30, 64)), [5, 10, 15, 20, 25, 30], [20, 30, 40, 50, 60]),
        (chart((1, 0.31), (2, 0.34)), [1, 2], [0.31, 0.32, 0.33, 0.34]),
        (chart((3, 50)), [3], [49.0, 49.5, 50.0, 50.5, 51.0]),
        (chart((0.1, 1), (100, 2), logarithmic=True), [0.1, 1, 10, 100], [1.0, 1.2, 1.4, 1.6, 1.8, 2.0]),
    ],
)
def test_ticks_are_round_numbers_within_the_drawing(given: Chart, x_ticks: list[float], y_ticks: list[float]) -> None:
    assert given.x_ticks == pytest.approx(x_ticks) and given.y_ticks == pytest.approx(y_ticks)
    assert all(given.left <= given.x(tick) <= given.width for tick in given.x_ticks)
    assert all(0 <= given.y(tick) <= given.bottom for tick in given.y_ticks)
