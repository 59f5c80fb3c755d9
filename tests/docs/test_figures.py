"""
The pictures of Figures 1 and 2 in docs/RESULTS.md show the scores and weights of the
runs in docs/results/*.jsonl.
"""

import re
import runpy
from itertools import pairwise

import pytest

from docs.generate_tables import runs
from tests.tiny import ROOT

IMAGES = ROOT / "docs/images"
LINE = re.compile(r'<polyline points="([^"]+)" fill="none" stroke="(#[0-9a-f]+)"')
CELL = re.compile(r'<rect x="([\d.]+)" .*? fill="#(..).*\n<text .*?>(0\.\d\d)<')
SHARES = ("0.01", "0.03", "0.1", "0.3")
COLOURS = {"elmo": "#b4530a", "baseline": "#2f6fb0"}
LAYERS = {
    "layer-0": "#2f6fb0",
    "layer-1": "#5b6b7c",
    "last-layer": "#b4530a",
    "elmo": "#1f2933",
}

WEIGHTS = [
    ("tokens:ner-59M", "input"),
    ("wikigold:wikigold-elmo", "input"),
    ("srl_adam:srl-input", "input"),
    ("table1:coref-elmo", "input"),
    ("table1:snli-elmo", "input"),
    ("tokens:sst-59M", "input"),
    ("table1:squad-elmo", "input"),
    ("table1:snli-elmo", "output"),
    ("tokens:sst-59M", "output"),
    ("table1:squad-elmo", "output"),
]
"""The rows of Figure 2, from top to bottom."""


def test_the_pictures_are_what_their_script_draws() -> None:
    drawn = runpy.run_path(str(IMAGES / "figures.py"))["pictures"]()
    for name, picture in drawn.items():
        written = (IMAGES / name).read_text("utf-8")
        assert written == picture, "make reference writes it"


@pytest.mark.parametrize("task", ["snli", "srl"])
@pytest.mark.parametrize("row", COLOURS)
def test_figure_1_has_the_scores_of_the_runs(task: str, row: str) -> None:
    """All lines have one scale: their heights differ as the scores do."""
    lines = LINE.findall((IMAGES / "figure-1.svg").read_text("utf-8"))
    lines = [points for points, colour in lines if colour == COLOURS[row]]
    points = lines[["snli", "srl"].index(task)].split()
    heights = [float(point.partition(",")[2]) for point in points]
    names = [f"figure1:{task}-{row}-{share}" for share in SHARES]
    names.append(f"table1:snli-{row}#1" if task == "snli" else f"figure1:srl-{row}-1")
    scores = [runs(name).mean for name in names]
    assert_same_steps(heights, scores, pixels=170 / 46, within=0.5)


def assert_same_steps(
    heights: list[float], scores: list[float], *, pixels: float, within: float
) -> None:
    """From point to point, a line rises by so many pixels for each point of the score."""
    for heights_of_two, scores_of_two in zip(
        pairwise(heights), pairwise(scores), strict=True
    ):
        left, right = heights_of_two
        before, after = scores_of_two
        assert left - right == pytest.approx(pixels * (after - before), abs=within)


def test_figure_2_has_the_weights_of_the_runs() -> None:
    """The larger a weight, the darker its cell."""
    cells = CELL.findall((IMAGES / "figure-2.svg").read_text("utf-8"))
    expected = []
    for name, place in WEIGHTS:
        scores = runs(f"{name}#1").records[0]["scores"]
        expected += [f"{scores[f'elmo_{place}_s{layer}']:.2f}" for layer in range(3)]
    assert [weight for _, _, weight in cells] == expected
    by_weight = sorted((float(weight), int(red, 16)) for _, red, weight in cells)
    reds = [red for _, red in by_weight]
    assert reds == sorted(reds, reverse=True)
    assert len({x for x, _, _ in cells}) == 3


@pytest.mark.parametrize("task", ["snli", "ner"])
@pytest.mark.parametrize("layer, colour", LAYERS.items())
def test_layers_by_tokens_has_the_scores_of_the_runs(
    layer: str, colour: str, task: str
) -> None:
    lines = LINE.findall((IMAGES / "layers-by-tokens.svg").read_text("utf-8"))
    ours = [points.split() for points, found in lines if found == colour]
    ours = [points for points in ours if len(points) == 3]  # not "no ELMo"
    points = ours[["snli", "ner"].index(task)]
    heights = [float(point.partition(",")[2]) for point in points]
    names = [f"layers:{task}-{layer}{of}" for of in ("-4M", "-15M", "")]
    scores = [runs(name).mean for name in names]
    assert_same_steps(heights, scores, pixels=190 / 12, within=1.7)
