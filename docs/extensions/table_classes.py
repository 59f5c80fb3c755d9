"""
Marks what site.css shows in another way: short cells of tables, whose numbers must stay
in one line (`58.1 ± 0.8`), and on a phone tables of keys or options, which are lists, and
other tables with much text in a row, which scroll.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LONGEST = 24
MUCH = 120


def mark_short(app: Sphinx, document: nodes.document) -> None:
    for cell in document.findall(nodes.entry):
        text = cell.astext()
        if len(text) <= LONGEST and any(map(str.isdigit, text)):
            cell["classes"].append("short")


def mark_tables(app: Sphinx, document: nodes.document) -> None:
    for table in document.findall(nodes.table):
        head, *rows = table.findall(nodes.row)
        titles = [cell.astext() for cell in head.children]
        if titles[-2:] == ["default", "meaning"]:
            table["classes"].append("meanings")
            mark_defaults(rows)
        elif len(titles) > 3 and any(len(row.astext()) > MUCH for row in rows):
            table["classes"].append("wide")


def mark_defaults(rows: list[nodes.row]) -> None:
    for row in rows:
        default = row.children[-2]
        if default.astext() not in ("", "required"):
            default["classes"].append("default")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", mark_short)
    app.connect("doctree-read", mark_tables)
    return {"parallel_read_safe": True}
