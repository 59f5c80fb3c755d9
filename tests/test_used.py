"""Something uses each function and class of the package: tests alone do not count."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.tiny import ROOT

CODE = ("elmo_tasks", "docs", "benchmarks", "fixtures", "allennlp_archives/src")
IN_PAGES = re.compile(r"```.*?```|`[^`\n]+`|auto\w+:: .*", re.DOTALL)
NAME = re.compile(r"\w+")

CALLED_BY_LIBRARIES = {
    *(
        "extend_vocab",
        "from_disk",
        "preprocess",
    ),  # AllenNLP, spaCy, sentence-transformers
    *("readable", "readinto"),  # io.BufferedReader
    "_render_traceback_",  # IPython
}


def names_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant):
            last = str(node.value).rpartition(".")[2]
            if last.isidentifier():
                yield last


def used() -> set[str]:
    """The names in code, and those that pages show to users."""
    found = set(CALLED_BY_LIBRARIES)
    for folder in CODE:
        for file in (ROOT / folder).rglob("*.py"):
            found.update(names_in(ast.parse(file.read_text("utf-8"))))
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for part in IN_PAGES.findall(page.read_text("utf-8")):
            found.update(NAME.findall(part))
    return found


def definitions(file: Path) -> Iterator[str]:
    """Those without a decorator, which may register them."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.decorator_list:
            yield node.name


def test_each_function_and_class_is_used() -> None:
    names = used()
    unused = []
    for file in sorted((ROOT / "elmo_tasks").rglob("*.py")):
        for name in definitions(file):
            if name not in names and not name.startswith("__"):
                unused.append(f"{file.relative_to(ROOT)}: {name}")
    assert unused == []
