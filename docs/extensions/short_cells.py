"""Marks short cells of tables, whose numbers must stay in one line: `58.1 ± 0.8`."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LONGEST = 24


def mark(app: Sphinx, document: nodes.document) -> None:
    for cell in document.findall(nodes.entry):
        text = cell.astext()
        if len(text) <= LONGEST and any(map(str.isdigit, text)):
            cell["classes"].append("short")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", mark)
    return {"parallel_read_safe": True}
