"""
Marks what site.css shows in another way: short cells of tables, whose numbers must stay
in one line (`58.1 ± 0.8`), and tables of keys or options, which are lists on a phone.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LONGEST = 24


def mark_short(app: Sphinx, document: nodes.document) -> None:
    for cell in document.findall(nodes.entry):
        text = cell.astext()
        if len(text) <= LONGEST and any(map(str.isdigit, text)):
            cell["classes"].append("short")


def mark_meanings(app: Sphinx, document: nodes.document) -> None:
    """Tables whose last columns are the default and the meaning, and the defaults."""
    for table in document.findall(nodes.table):
        head = table.next_node(nodes.thead).next_node(nodes.row)
        titles = [cell.astext() for cell in head.children]
        if titles[-2:] != ["default", "meaning"]:
            continue
        table["classes"].append("meanings")
        for row in table.next_node(nodes.tbody).children:
            default = row.children[-2]
            if default.astext() not in ("", "required"):
                default["classes"].append("default")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", mark_short)
    app.connect("doctree-read", mark_meanings)
    return {"parallel_read_safe": True}
