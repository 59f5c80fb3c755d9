"""Execute the tutorials and write their notebooks, all or those named: `python execute.py 1-vectors.py`."""

import os
import re
import sys
import tempfile
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent
SOURCES = sorted(HERE.glob("[1-9]-*.py"))
ANSWER = re.compile(r"<details>.*?</details>", re.DOTALL)
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def execute(notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Run the cells in `folder`, with the commands of this Python's environment; an error in a cell is raised."""
    os.environ["PATH"] += os.pathsep + str(Path(sys.executable).parent)
    settings = {"timeout": 600, "kernel_name": "python3", "coalesce_streams": True}
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, resources=resources, **settings).execute()


def answers(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """The code in the answers of the exercises, as cells."""
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    cells = []
    for answer in ANSWER.findall("\n".join(texts)):
        for code in CODE.findall(answer):
            cells.append(nbformat.v4.new_code_cell(code))
    return cells


def clean(notebook: nbformat.NotebookNode) -> None:
    """Remove what differs from run to run or from machine to machine: ids, times, versions and absolute paths."""
    notebook.metadata.pop("language_info", None)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata = nbformat.NotebookNode()
        for output in cell.get("outputs", []):
            output.get("metadata", {}).clear()
            if "text" in output:
                output.text = output.text.replace(f"{HERE.parents[1]}/", "")


def main() -> None:
    named = [HERE / name for name in sys.argv[1:]]
    for source in named or SOURCES:
        notebook = jupytext.read(source)
        with tempfile.TemporaryDirectory() as folder:
            execute(notebook, Path(folder))
        clean(notebook)
        jupytext.write(notebook, source.with_suffix(".ipynb"))


if __name__ == "__main__":
    main()
