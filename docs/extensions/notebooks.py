"""
The tutorials as pages, and as notebooks that Colab opens from the published site.

`make generated` has executed each docs/tutorials/NAME.py into NAME.ipynb, in
build/tutorials or in the folder that TUTORIALS names.
"""

import os
import re
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
EXECUTED = Path(os.environ.get("TUTORIALS", ROOT / "build/tutorials"))
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")


def read(text: str) -> NotebookNode:
    """The source of a tutorial -> its notebook, with the outputs of its cells."""
    notebook = jupytext.reads(text, fmt="py:percent")
    notebook.metadata["language_info"] = {
        "name": "python",
        "pygments_lexer": "ipython3",
    }
    cells = code_cells(notebook)
    for file in sorted(EXECUTED.glob("*.ipynb")):
        executed = code_cells(nbformat.read(file, as_version=4))
        if sources(executed) == sources(cells):
            for cell, done in zip(cells, executed, strict=True):
                cell.outputs = done.outputs
                cell.execution_count = done.execution_count
            return notebook
    first = text.partition("# # ")[2].partition("\n")[0]
    problem = f"{first}: the outputs are of another version; run make generated"
    raise ExtensionError(problem)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def sources(cells: list[NotebookNode]) -> list[str]:
    return [cell.source for cell in cells]


def write_notebooks(app: Sphinx, exception: Exception | None) -> None:
    """Writes tutorials/NAME.ipynb into the site; links lead to the published site."""
    if exception is not None:
        return
    for docname in sorted(app.env.found_docs):
        page = Path(app.env.doc2path(docname))
        if page.suffix != ".py":
            continue
        notebook = read(page.read_text("utf-8"))
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = with_absolute_links(cell.source, page.parent, app)
        target = Path(app.outdir) / f"{docname}.ipynb"
        target.parent.mkdir(exist_ok=True)
        nbformat.write(nbformat.from_dict(notebook), target)


def with_absolute_links(text: str, folder: Path, app: Sphinx) -> str:
    def link(found: re.Match[str]) -> str:
        file = (folder / found[1]).resolve()
        address = f"{app.config.repository}/blob/main/{os.path.relpath(file, ROOT)}"
        docname = app.project.path2doc(file)
        if docname in app.env.found_docs:
            address = app.config.html_baseurl + app.builder.get_target_uri(docname)
        return f"]({address}{found[2] or ''})"

    return LINK.sub(link, text)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", write_notebooks)
    return {"parallel_read_safe": True}
