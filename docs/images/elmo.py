"""
Draws `elmo.svg`: a sentence goes through the character CNN and the two biLSTM layers,
and the weighted sum of the three vectors of a word goes into a task model.

`make generated` writes it.
"""

from docs.images.drawing import BLUE, GREY, ORANGE, Drawing

WIDTH, HEIGHT = 480, 462
TITLE = (
    "ELMo: a sentence goes through a character CNN and two biLSTM layers; the three "
    "vectors of the word play, weighted and summed, go into a task model"
)
WORDS = ["She", "saw", "the", "play", "again"]
MARKED = WORDS.index("play")
"""The word whose layers are summed."""

COLUMNS = [48, 104, 160, 216, 272]
"""The middle of each word."""

LEFT, RIGHT = 12, 308
"""The sides of a layer."""

SUM = 428
"""The middle of the weighted sum."""

LAYER_FILL, CELL_FILL, MARKED_FILL = "#eef3f9", "#ffffff", "#ffe3c7"


def draw_layer(drawing: Drawing, name: str, middle: float, height: float) -> None:
    """The ground of a layer, and its name on the right, which no arrow crosses."""
    size = (RIGHT - LEFT, height)
    drawing.box(((LEFT + RIGHT) / 2, middle), size, fill=LAYER_FILL, stroke="#c3d0de")
    drawing.text(RIGHT + 8, middle + 20, name, anchor="start", fill=GREY)


def draw_cells(drawing: Drawing, middle: float, height: float) -> None:
    """A cell for each word; that of the marked word is coloured."""
    for number, x in enumerate(COLUMNS):
        fill, stroke = CELL_FILL, "#8aa0b6"
        if number == MARKED:
            fill, stroke = MARKED_FILL, ORANGE
        drawing.box((x, middle), (34, height), fill=fill, stroke=stroke)


def draw_directions(drawing: Drawing, middle: float) -> None:
    """Arrows between neighbours: forward above, backward below."""
    for left, right in zip(COLUMNS[:-1], COLUMNS[1:], strict=True):
        drawing.line((left + 18, middle - 7), (right - 18, middle - 7), stroke=BLUE)
        drawing.line((right - 18, middle + 7), (left + 18, middle + 7), stroke=BLUE)


def draw_steps(drawing: Drawing, lower: float, upper: float) -> None:
    """Arrows from the cells of one layer, or the words, to those above them."""
    for x in COLUMNS:
        drawing.line((x, lower), (x, upper), stroke=BLUE)


def draw_weight(drawing: Drawing, name: str, cell_top: float) -> None:
    """From the marked word's cell to its weight, and on to the line of the sum."""
    height = cell_top - 14
    drawing.line(
        (COLUMNS[MARKED], cell_top),
        (COLUMNS[MARKED], height),
        (336, height),
        stroke=ORANGE,
    )
    drawing.box((360, height), (46, 26), fill=CELL_FILL, stroke=ORANGE)
    drawing.text(360, height, name, fill=ORANGE)
    drawing.line((383, height), (SUM, height), stroke=ORANGE, has_head=False)


def picture() -> str:
    """The picture as SVG, from the words at the bottom to the task model at the top."""
    drawing = Drawing((WIDTH, HEIGHT), title=TITLE)
    layers = {"× s₂": 226.0, "× s₁": 316.0, "× s₀": 392.0}
    draw_layer(drawing, "biLSTM layer 2", 212, 66)
    draw_layer(drawing, "biLSTM layer 1", 302, 66)
    draw_layer(drawing, "character CNN", 384, 54)
    draw_steps(drawing, 434, 408)
    draw_steps(drawing, 378, 334)
    draw_steps(drawing, 300, 244)
    for middle in layers.values():
        is_lstm = middle < 350
        draw_cells(drawing, middle, 30 if is_lstm else 26)
        if is_lstm:
            draw_directions(drawing, middle)
    for number, (x, word) in enumerate(zip(COLUMNS, WORDS, strict=True)):
        drawing.text(x, 444, word, size=16, is_bold=number == MARKED)

    for name, middle in layers.items():
        draw_weight(drawing, name, middle - (15 if middle < 350 else 13))
    drawing.line((SUM, 365), (SUM, 138), stroke=ORANGE)
    drawing.box((SUM, 120), (84, 32), fill=MARKED_FILL, stroke=ORANGE)
    drawing.text(SUM, 120, "γ × sum", fill=ORANGE, is_bold=True)
    drawing.line((SUM, 104), (SUM, 72), stroke=ORANGE)
    drawing.text(SUM - 8, 88, "ELMo(play)", anchor="end", fill=ORANGE)

    drawing.box((110, 120), (170, 32), fill=CELL_FILL, stroke="#8aa0b6")
    drawing.text(110, 120, "word vector of play")
    drawing.line((110, 104), (110, 72), stroke=BLUE)
    drawing.box((WIDTH / 2, 42), (WIDTH - 24, 56), fill="#e3f1e5", stroke="#3c7a48")
    drawing.text(WIDTH / 2, 31, "task model", size=17, is_bold=True)
    drawing.text(WIDTH / 2, 53, "reads both vectors of each word", fill=GREY)
    return drawing.svg()
