"""The page and its pictures."""

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from elmo_tasks.ablation.figures import Weights, curves, figure1, figure2, hatch_of, layer_weights, shares
from elmo_tasks.ablation.report import report
from elmo_tasks.ablation.summary import Summary
from tests.ablation.tables import LAST, fail, finish, planner, row


def summary_of(folder: Path) -> Summary:
    rows = [
        row("baseline", column="baseline", line="A & B"),
        row("elmo", column="ELMo", line="A & B"),
        row("last", column="last", line="A & B", changes=LAST),
        row("bad", column="bad", line="A & B", changes={"model.elmo.at": "output"}),
    ]
    planned = planner(folder, rows, title="<Table>")
    table = planned.table
    finish(planned.run(table.row("baseline"), 1), curve=[0.1, 0.2], f1=0.2)
    for seed, weights in enumerate(([0.1, 0.2, 0.7], [0.3, 0.2, 0.5]), start=1):
        named = {f"elmo_{place}_s{layer}": w for place in ("input", "output") for layer, w in enumerate(weights)}
        finish(planned.run(table.row("elmo"), seed), curve=[0.2, 0.3], f1=0.3, elmo_input_gamma=1.5, **named)
    finish(planned.run(table.row("last"), 1), curve=[0.2], f1=0.2, elmo_input_gamma=1.5)
    fail(planned.run(table.row("bad"), 1), "ValueError: <nan>")
    return Summary(planned, seeds=1)


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("src", "href", "action", "data")]
        self.found += [tag] if tag in ("script", "link", "iframe") else []


def test_the_page_needs_nothing_else(tmp_path: Path) -> None:
    page = report(summary_of(tmp_path))
    links = Links()
    links.feed(page)
    assert len(links.found) == 2
    pictures = [base64.b64decode(link.removeprefix("data:image/svg+xml;base64,")).decode() for link in links.found]
    assert all("<svg" in picture for picture in pictures)
    assert not re.search(r"""(href|src)=["'](?!#)|url\((?!#)|@import""", "".join(pictures))
    assert "url(" not in page and "@import" not in page


def test_the_page_shows_the_table_the_failure_and_every_run(tmp_path: Path) -> None:
    page = report(summary_of(tmp_path))
    assert "<h1>&lt;Table&gt;</h1>" in page and "<Table>" not in page
    assert "<td>A &amp; B</td><td>ours</td><td>20.0 (n=1)</td><td>30.0 ± 0.0 (n=2)</td>" in page
    assert '<td class="failed">failed</td>' in page and "ValueError: &lt;nan&gt;" in page
    assert page.count("<td>60 s</td>") == 4
    assert "Figure 2" in page and "Learning curves" in page and "Figure 1" not in page


def test_layer_weights_are_means_over_seeds_of_each_place(tmp_path: Path) -> None:
    found = layer_weights(summary_of(tmp_path))
    assert [(weights.label, weights.place) for weights in found] == [("elmo", "input"), ("elmo", "output")]
    assert found[0].values == pytest.approx([0.2, 0.2, 0.6])
    assert isinstance(found[0], Weights)


def test_curves_are_named_by_their_own_score(tmp_path: Path) -> None:
    """Table 7 has a line with perplexities first."""
    rows = [row("lm", line="A", metric="perplexity", changes=LAST), row("elmo", line="A"), row("baseline", line="B")]
    planned = planner(tmp_path, rows)
    for name in ("elmo", "baseline"):
        finish(planned.run(planned.table.row(name), 1), curve=[0.2, 0.3], f1=0.3)
    drawn = curves(Summary(planned, seeds=1))
    assert [line for line, _ in drawn] == ["A", "B"]
    assert all("<!-- f1 on dev, % -->" in svg and "perplexity" not in svg for _, svg in drawn)


@pytest.mark.parametrize(("weight", "hatch"), [(0.3, "low"), (0.34, "middle"), (0.66, "middle"), (0.67, "high")])
def test_hatches_are_those_of_the_paper(weight: float, hatch: str) -> None:
    assert hatch_of(weight) == hatch


def test_no_result_gives_a_page_without_pictures(tmp_path: Path) -> None:
    summary = Summary(planner(tmp_path, [row("elmo", x=1.0)], figure="share"), seeds=1)
    assert figure1(summary) is None and figure2(summary) is None
    assert "<img" not in report(summary) and "missing" in report(summary)


def test_figure1_has_a_line_for_each_row_over_ascending_shares(tmp_path: Path) -> None:
    rows = [
        row(
            f"{kind}-{share}",
            line=f"NER, {kind}",
            x=share,
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
    found = shares(summary)
    assert [(p.share, round(p.mean, 6)) for p in found["NER, baseline"]] == [(1.0, 10.0), (100.0, 65.0)]
    assert found["NER, baseline"][1].deviation == pytest.approx(50**0.5)
    assert len(found["NER, elmo"]) == 1
    assert "Figure 1" in report(summary) and "<svg" in str(figure1(summary))
