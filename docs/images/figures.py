"""
Draws the paper's two figures with our scores, `figure-1.svg`, the scores against the
share of the training data, and `figure-2.svg`, the learned weights of the layers; and
`layers-by-tokens.svg`, the scores with each layer against the biLM's tokens.

They show the tables of docs/results/tables.txt of these names, which are filled from
docs/results/*.jsonl. `make generated` writes them.
"""

from docs.generate_tables import tables
from docs.images.drawing import BLUE, DARK, GREY, ORANGE, Drawing

WIDTH = 480

TASKS = {"SNLI": "accuracy", "SRL": "F1"}
"""The tasks of Figure 1, from top to bottom, with their metrics."""

TOPS = [64, 304]
"""Of the two diagrams."""

HEIGHT = 170
"""Of a diagram."""

SCORES = (30.0, 76.0)
"""At the bottom and at the top of a diagram."""

COLUMNS = [76.0, 164.0, 252.0, 340.0, 428.0]
"""The places of the shares."""

LAYERS = [190.0, 295.0, 400.0]
"""The middles of the columns of Figure 2."""

WEIGHTS = (0.15, 0.55)
"""From white to the darkest colour."""

LAYER_COLOURS = {
    "layer 0": BLUE,
    "layer 1": GREY,
    "last layer": ORANGE,
    "all layers": DARK,
}
"""Of the lines against tokens."""

TOKENS = [70.0, 205.0, 340.0]
"""The places of the biLMs."""

TOKEN_DIAGRAMS = {
    "layers-by-tokens": ("SNLI, accuracy", 40.0, (63, 75)),
    "layers-by-tokens-ner": ("NER, F1", 310.0, (42, 50)),
}
"""By the table: the title, the top, and the scores at the bottom and at the top."""

PIXELS = 190 / 12
"""For each point of a score, in both diagrams."""

Row = list[str]


def rows_of(table: str) -> dict[str, Row]:
    """The cells of each row after the first, by the first."""
    found = {}
    header, _, *lines = tables()[table].splitlines()
    for line in [header, *lines]:
        first, *rest = [cell.strip() for cell in line.strip("|").split("|")]
        found[first] = rest
    return found


def figure_1() -> str:
    """The scores of SNLI and SRL with and without ELMo, for each share."""
    rows = rows_of("figure-1")
    drawing = Drawing(
        (WIDTH, 524),
        title="Figure 1 with our scores: SNLI and SRL, with and without ELMo, against "
        "the share of the training data",
    )
    drawing.point(150, 22, fill=ORANGE)
    drawing.text(160, 22, "with ELMo", anchor="start", fill=ORANGE, is_bold=True)
    drawing.point(280, 22, fill=BLUE)
    drawing.text(290, 22, "without", anchor="start", fill=BLUE, is_bold=True)
    for (task, metric), top in zip(TASKS.items(), TOPS, strict=True):
        drawing.text(12, top - 16, f"{task}, {metric}", anchor="start", is_bold=True)
        draw_axes(drawing, top, rows["share"])
        pair = [rows[f"{task}, without ELMo"], rows[f"{task}, with ELMo"]]
        without, with_elmo = [[float(cell) for cell in row] for row in pair]
        draw_scores(drawing, top, without, others=with_elmo, colour=BLUE)
        draw_scores(drawing, top, with_elmo, others=without, colour=ORANGE)
    drawing.text(WIDTH / 2, 508, "share of the training data", fill=GREY)
    return drawing.svg()


def height_of(score: float, top: float) -> float:
    """The place of a score in the diagram that begins at `top`."""
    low, high = SCORES
    return top + HEIGHT * (high - score) / (high - low)


def draw_axes(drawing: Drawing, top: float, shares: Row) -> None:
    """Lines at 40, 50, 60 and 70, and the shares below them."""
    for score in (40, 50, 60, 70):
        y = height_of(score, top)
        drawing.line((44, y), (WIDTH - 12, y), stroke="#dbe2ea", has_head=False)
        drawing.text(38, y, str(score), anchor="end", fill=GREY)
    for x, share in zip(COLUMNS, shares, strict=True):
        drawing.text(x, top + HEIGHT + 14, share, fill=GREY)


def draw_scores(
    drawing: Drawing,
    top: float,
    scores: list[float],
    *,
    others: list[float],
    colour: str,
) -> None:
    """A line through the scores; the higher one of each pair has its number above."""
    points = []
    for x, score in zip(COLUMNS, scores, strict=True):
        points.append((x, height_of(score, top)))
    drawing.line(*points, stroke=colour, has_head=False)
    for (x, y), score, other in zip(points, scores, others, strict=True):
        side = -1 if score > other else 1
        drawing.point(x, y, fill=colour)
        drawing.text(x + 8 * side, y + 15 * side, f"{score:.1f}", fill=colour)


def figure_2() -> str:
    """The weights of the three layers for each task and place, the larger the darker."""
    rows = rows_of("figure-2")
    drawing = Drawing(
        (WIDTH, 28 + 30 * (len(rows) + 1)),
        title="Figure 2 with our weights: the three layers of the biLM, for each task, "
        "at the input and at the output",
    )
    y = 24
    for place in ("input", "output"):
        drawing.text(12, y, f"at the {place}", anchor="start", is_bold=True)
        for x, name in zip(LAYERS, rows[""], strict=False):
            drawing.text(x, y, name, is_bold=True)
        y += 32
        for label, cells in rows.items():
            task = label.removesuffix(f", {place}")
            if task == label:
                continue
            drawing.text(12, y, task, anchor="start")
            for x, weight in zip(LAYERS, cells, strict=False):
                draw_weight(drawing, (x, y), float(weight))
            y += 30
    return drawing.svg()


def draw_weight(drawing: Drawing, middle: tuple[float, float], weight: float) -> None:
    low, high = WEIGHTS
    share = min(1.0, max(0.0, (weight - low) / (high - low)))
    parts = [round(255 - share * (255 - part)) for part in (0x1B, 0x4F, 0x8A)]
    fill = "#" + "".join([f"{part:02x}" for part in parts])
    drawing.box(middle, (101, 27), fill=fill, stroke="none")
    ink = "#ffffff" if share > 0.65 else DARK
    drawing.text(*middle, f"{weight:.2f}", fill=ink)


def layers_by_tokens() -> str:
    """SNLI and NER with each layer alone, and with all of them, for each biLM."""
    drawing = Drawing(
        (WIDTH, 506),
        title="SNLI and NER with each layer alone and with all of them, against the "
        "tokens that the biLM was trained on",
    )
    for table, (title, top, scores) in TOKEN_DIAGRAMS.items():
        drawing.text(12, top - 20, title, anchor="start", is_bold=True)
        draw_layers(drawing, top, scores, rows_of(table))
    drawing.text(TOKENS[1], 488, "tokens of the biLM", fill=GREY)
    return drawing.svg()


def draw_layers(
    drawing: Drawing, top: float, scores: tuple[int, int], rows: dict[str, Row]
) -> None:
    """A line for each layer, from the smallest biLM to the largest."""
    low, high = scores

    def height_of_cell(cell: str) -> float:
        mean = float(cell.split()[0])
        return top + PIXELS * (high - mean)

    for score in range(low, high + 1, 2):
        y = height_of_cell(str(score))
        drawing.line((44, y), (372, y), stroke="#dbe2ea", has_head=False)
        drawing.text(38, y, str(score), anchor="end", fill=GREY)
    (_, columns), *bilms = rows.items()
    for x, (label, _) in zip(TOKENS, bilms, strict=True):
        drawing.text(x, top + PIXELS * (high - low) + 20, label, fill=GREY)
    without = height_of_cell(bilms[0][1][columns.index("without ELMo")])
    drawing.line((44, without), (372, without), stroke=DARK, has_head=False)
    ends = [(without, "no ELMo", DARK)]
    for name, colour in LAYER_COLOURS.items():
        column = columns.index(name)
        heights = [height_of_cell(cells[column]) for _, cells in bilms]
        points = list(zip(TOKENS, heights, strict=True))
        drawing.line(*points, stroke=colour, has_head=False)
        for x, y in points:
            drawing.point(x, y, fill=colour)
        ends.append((heights[-1], name, colour))
    lowest = 0.0
    for height, name, colour in sorted(ends):
        lowest = max(height, lowest + 17)  # below the label before
        drawing.text(382, lowest, name, anchor="start", fill=colour, is_bold=True)


def pictures() -> dict[str, str]:
    """The SVG of each file."""
    return {
        "figure-1.svg": figure_1(),
        "figure-2.svg": figure_2(),
        "layers-by-tokens.svg": layers_by_tokens(),
    }
