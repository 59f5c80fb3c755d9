"""
The tutorials run, with the answers of their exercises. Each installs what it needs in
its first cell, and links to itself in Colab and Binder.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import jupytext
import pytest

from tests.docs.conftest import TUTORIALS
from tests.tiny import ROOT

pytestmark = pytest.mark.slow

URLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
REPOSITORY = URLS["Source"].removeprefix("https://github.com/")
CORE_ALONE = ("1-vectors",)
"""Tutorials that need no AllenNLP."""


def stem(source: Path) -> str:
    return source.stem


SOURCES = pytest.mark.parametrize("source", TUTORIALS["SOURCES"], ids=stem)


@SOURCES
def test_runs(source: Path, executed: Callable[[Path], Path]) -> None:
    """The notebook of the site has the source's cells and their outputs."""
    file = executed(source)
    notebook = jupytext.read(file)
    expected = jupytext.read(source)
    assert TUTORIALS["code"](notebook) == TUTORIALS["code"](expected)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.execution_count
            for output in cell.outputs:
                assert output.output_type != "error"
    assert file.stat().st_size < 250_000


@SOURCES
def test_first_cell_installs_where_the_package_is_missing(
    source: Path, tmp_path: Path
) -> None:
    """In a Python without packages, whose pip notes what it is asked for."""
    cells = jupytext.read(source).cells
    first = next(cell.source for cell in cells if cell.cell_type == "code")
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "__init__.py").touch()
    (tmp_path / "pip" / "__main__.py").write_text(
        "import sys\nprint(*sys.argv[1:], file=open('asked', 'a'))\n"
    )
    command = [sys.executable, "-S", "-c", first]
    subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, check=True)
    asked = (tmp_path / "asked").read_text().splitlines()
    assert f"git+{URLS['Source']}" in asked[0]
    if source.stem in CORE_ALONE:
        assert asked[0].startswith("install --quiet elmo-tasks @") and len(asked) == 1
    else:
        assert asked[0].startswith("install --quiet elmo-tasks[tasks] @")
        assert asked[1] == "install --quiet --no-deps allennlp==2.10.1"


@SOURCES
def test_links_open_this_tutorial(source: Path) -> None:
    text = source.read_text("utf-8")
    notebook = f"{REPOSITORY}/blob/gh-pages/latest/tutorials/{source.stem}.ipynb"
    colab = f"https://colab.research.google.com/github/{notebook}"
    file = f"docs%2Ftutorials%2F{source.name}"
    binder = f"https://mybinder.org/v2/gh/{REPOSITORY}/main?urlpath=lab%2Ftree%2F{file}"
    links = re.findall(r"\((https://(?:colab|mybinder)[^)]*)\)", text)
    assert links == [colab, binder]
