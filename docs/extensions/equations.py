"""Equations as SVG, which needs neither a script nor a font of the reader's machine."""

from typing import Any
from xml.etree import ElementTree

import ziamath
from docutils import nodes
from sphinx.application import Sphinx

ziamath.config.svg2 = False  # no ids, which two equations of a page would share
ziamath.config.math.color = "currentColor"
SIZE = 20
"""Of a letter, in the units of the pictures."""


def picture(tex: str, is_inline: bool) -> str:
    equation = ziamath.Latex(tex, size=SIZE, inline=is_inline)
    root = equation.svgxml()
    for name in ("width", "height"):
        root.set(name, f"{float(root.get(name)) / SIZE:.3f}em")
    depth = equation.getyofst() / SIZE
    root.set("style", f"vertical-align: {depth:.3f}em")
    root.set("role", "img")
    root.set("aria-label", tex)
    return ElementTree.tostring(root, encoding="unicode")


def visit_inline(self: Any, node: nodes.math) -> None:
    self.body.append(picture(node.astext(), is_inline=True))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """In a box that scrolls when the equation is wider than the column."""
    equation = picture(node.astext().strip(), is_inline=False)
    self.body.append(f'<div class="equation">{equation}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("svg", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True}
