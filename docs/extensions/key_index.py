"""
Entries of the index for the keys of a config, such as `model.elmo.l2`: the search finds
a key by its dotted path, or the last part of it, and leads to its line in the reference.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import index
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

PAGE = "reference-configs"


class KeyIndex(SphinxTransform):
    """An entry for each row of a table of keys, under the heading of the table."""

    default_priority = 500

    def apply(self, **_: Any) -> None:
        if self.env.docname != PAGE:
            return
        for section in self.document.findall(nodes.section):
            heading = section.next_node(nodes.title).astext()
            for table in section.children:
                if isinstance(table, nodes.table):
                    self._add(heading, table)

    def _add(self, heading: str, table: nodes.table) -> None:
        for row in table.next_node(nodes.tbody).children:
            cell = row.next_node(nodes.entry)
            key = f"{heading}.{cell.astext()}".removeprefix("Top level.")
            name = re.sub(r"[^a-z0-9]+", "-", f"key-{key}".lower()).strip("-")
            cell["ids"].append(name)
            entries = []
            # Sphinx's search wants half of an entry's letters at least.
            for shown in dict.fromkeys([key, key.rpartition(".")[2]]):
                entries.append(("single", shown, name, "main", None))
            cell.insert(0, index(entries=entries))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(KeyIndex)
    return {"parallel_read_safe": True}
