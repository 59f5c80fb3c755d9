"""
The tutorials run, with the answers of their exercises; each notebook has its source's
cells and their outputs.
"""

import runpy
from pathlib import Path
from typing import Any

import jupytext
import pytest

from tests.tiny import ROOT

pytestmark = pytest.mark.slow

TUTORIALS = ROOT / "docs" / "tutorials"
TOOLS = runpy.run_path(str(TUTORIALS / "execute.py"))


def stem(source: Path) -> str:
    return source.stem


SOURCES = pytest.mark.parametrize("source", TOOLS["SOURCES"], ids=stem)


@SOURCES
def test_runs(
    source: Path,
    environment: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    notebook = jupytext.read(source)
    notebook.cells += TOOLS["answers"](notebook)
    TOOLS["execute"](notebook, tmp_path)


@SOURCES
def test_notebook_has_the_cells_of_its_source(source: Path) -> None:
    file = source.with_suffix(".ipynb")
    stored = jupytext.read(file)
    assert contents(stored) == contents(jupytext.read(source)), "run make tutorials"
    for cell in stored.cells:
        if cell.cell_type == "code":
            assert cell.execution_count
            for output in cell.outputs:
                assert output.output_type != "error"
    assert file.stat().st_size < 250_000


def contents(notebook: Any) -> list[tuple[str, str]]:
    return [(cell.cell_type, cell.source) for cell in notebook.cells]
