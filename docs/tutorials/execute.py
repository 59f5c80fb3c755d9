"""
Execute the tutorials that have changed, or those that are named, into build/tutorials:

    python docs/tutorials/execute.py [1-vectors.py ...]
"""

import os
import re
import sys
import tempfile
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCES = sorted(HERE.glob("[1-9]-*.py"))
ANSWER = re.compile(r"<details>.*?</details>", re.DOTALL)
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def execute(notebook: NotebookNode, folder: Path) -> None:
    """Run the cells in `folder`, with the commands of this Python's environment; an error in a cell is raised."""
    os.environ["PATH"] += os.pathsep + str(Path(sys.executable).parent)
    settings = {"timeout": 600, "kernel_name": "python3", "coalesce_streams": True}
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, resources=resources, **settings).execute()


def answers(notebook: NotebookNode) -> list[NotebookNode]:
    """The code in the answers of the exercises, as cells."""
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    cells = []
    for answer in ANSWER.findall("\n".join(texts)):
        for code in CODE.findall(answer):
            cells.append(nbformat.v4.new_code_cell(code))
    return cells


def clean(notebook: NotebookNode) -> None:
    """Remove what differs from run to run or from machine to machine: ids, times, versions and absolute paths."""
    notebook.metadata.pop("language_info", None)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata = NotebookNode()
        for output in cell.get("outputs", []):
            output.get("metadata", {}).clear()
            if "text" in output:
                output.text = output.text.replace(f"{ROOT}/", "")


def code(notebook: NotebookNode) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def is_executed(notebook: NotebookNode, file: Path) -> bool:
    """If the file has the same code as the notebook, and so its outputs."""
    return file.exists() and code(nbformat.read(file, as_version=4)) == code(notebook)


def main() -> None:
    folder = ROOT / "build/tutorials"
    folder.mkdir(parents=True, exist_ok=True)
    named = [HERE / name for name in sys.argv[1:]]
    for source in named or SOURCES:
        notebook = jupytext.read(source)
        file = folder / f"{source.stem}.ipynb"
        if is_executed(notebook, file) and not named:
            continue
        print(f"executing {source.name}")
        with tempfile.TemporaryDirectory() as scratch:
            execute(notebook, Path(scratch))
        clean(notebook)
        nbformat.write(notebook, file)


if __name__ == "__main__":
    main()
