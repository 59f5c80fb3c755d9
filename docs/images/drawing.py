"""
SVG by hand, for the pictures that are read on a phone: each has its own light
background, so that it can be read on a dark page, and letters that can be read where it
is 400 pixels wide.
"""

from xml.sax.saxutils import escape

DARK, GREY, BLUE, ORANGE = "#1f2933", "#5b6b7c", "#2f6fb0", "#b4530a"


class Drawing:
    """The elements of a picture, in the order in which they are drawn."""

    def __init__(self, size: tuple[int, int], *, title: str) -> None:
        self.size = size
        self.title = title
        self.elements: list[str] = []

    def box(
        self,
        middle: tuple[float, float],
        size: tuple[float, float],
        *,
        fill: str,
        stroke: str,
    ) -> None:
        (x, y), (width, height) = middle, size
        self.elements.append(
            f'<rect x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}" '
            f'height="{height:g}" rx="6" fill="{fill}" stroke="{stroke}"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: int = 15,
        anchor: str = "middle",
        fill: str = DARK,
        is_bold: bool = False,
    ) -> None:
        """A line of text whose middle is as high as `y`."""
        weight = ' font-weight="bold"' if is_bold else ""
        self.elements.append(
            f'<text x="{x:g}" y="{y + 0.35 * size:g}" font-size="{size}" '
            f'text-anchor="{anchor}" fill="{fill}"{weight}>{escape(text)}</text>'
        )

    def line(
        self, *points: tuple[float, float], stroke: str, has_head: bool = True
    ) -> None:
        """A line through points, which ends in an arrow's head."""
        corners = " ".join([f"{x:g},{y:g}" for x, y in points])
        name = "orange" if stroke == ORANGE else "blue"
        head = f' marker-end="url(#{name})"' if has_head else ""
        self.elements.append(
            f'<polyline points="{corners}" fill="none" stroke="{stroke}" '
            f'stroke-width="1.6"{head}/>'
        )

    def point(self, x: float, y: float, *, fill: str) -> None:
        self.elements.append(f'<circle cx="{x:g}" cy="{y:g}" r="4" fill="{fill}"/>')

    def svg(self) -> str:
        width, height = self.size
        heads = [head("blue", BLUE), head("orange", ORANGE)]
        start = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" '
            f'font-family="Helvetica, Arial, sans-serif">'
        )
        card = (
            f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="10" '
            f'fill="#fbfcfe" stroke="#cbd5e0"/>'
        )
        title = f"<title>{escape(self.title)}</title>"
        lines = [start, title, *heads, card, *self.elements, "</svg>"]
        return "\n".join(lines) + "\n"


def head(name: str, fill: str) -> str:
    """An arrow's head, which the lines refer to by its name."""
    return (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{fill}"/>'
        "</marker>"
    )
