"""
Tests see behaviour: they replace as little of the package as possible, and nothing by a
mock.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tiny import ROOT

OWN = ("elmo_tasks", "fixtures", "tests")
REPLACING = ("setattr", "delattr", "setitem", "delitem")
MOST = 12
"""
Uses in the whole suite; each new one needs a reason that no argument, hook, process or
limit of the system meets.
"""


def imported(tree: ast.Module) -> dict[str, str]:
    """The names that a file imports, and the module of each."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for name in node.names:
                found[name.asname or name.name] = str(node.module)
        elif isinstance(node, ast.Import):
            for name in node.names:
                found[name.asname or name.name.partition(".")[0]] = name.name
    return found


def replaced(call: ast.Call) -> str:
    """What a call changes: its first argument, of `a.b.c` the name `a`."""
    target = call.args[0]
    if isinstance(target, ast.Constant):
        return str(target.value)
    while isinstance(target, ast.Attribute | ast.Call | ast.Subscript):
        if isinstance(target, ast.Call):
            target = target.func
        else:
            target = target.value
    return ast.unparse(target)


def is_ours(name: str, imports: dict[str, str]) -> bool:
    """
    Of the package, or an object of the test's own, which is an object of the package as
    a rule.
    """
    module = name
    if "." not in name:
        module = imports.get(name, OWN[0])
    return module.partition(".")[0] in OWN


def replacements(source: str) -> Iterator[str]:
    """The lines on which a test replaces something of ours for the time of a test."""
    tree = ast.parse(source)
    imports = imported(tree)
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if node.func.attr in REPLACING and is_ours(replaced(node), imports):
            yield f"{node.lineno}: {ast.unparse(node)}"
    for line, text in enumerate(source.splitlines(), start=1):
        if "[method-assign]" in text:
            yield f"{line}: {text.strip()}"


def files_of_tests() -> list[Path]:
    return sorted((ROOT / "tests").rglob("*.py"))


def test_little_of_the_package_is_replaced() -> None:
    found = []
    for path in files_of_tests():
        if path != Path(__file__):
            for line in replacements(path.read_text("utf-8")):
                found.append(f"{path.relative_to(ROOT)}:{line}")
    assert len(found) <= MOST, "\n".join(found)


def test_nothing_is_a_mock() -> None:
    for path in files_of_tests():
        modules = imported(ast.parse(path.read_text("utf-8"))).values()
        assert "unittest.mock" not in modules, path.name


IMPORTS = (
    "import os\nimport torch\nimport elmo_tasks\nfrom elmo_tasks.bilm import lstm\n"
)


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("monkeypatch.setattr(lstm, 'TOKENS', 7)", True),
        ("monkeypatch.setattr(elmo_tasks, '__version__', '9.9')", True),
        ("patch.setattr('elmo_tasks.bilm.lstm.TOKENS', 7)", True),
        ("monkeypatch.setattr(model.softmax, 'loss', watched)", True),
        ("monkeypatch.setattr(lstm.torch.cuda, 'device_count', two)", True),
        ("model.loss = watched  # type: ignore[method-assign]", True),
        ("monkeypatch.setitem(lstm.SIZES, 'x', 7)", True),
        ("monkeypatch.setitem(os.environ, 'x', '7')", False),
        ("monkeypatch.setattr(os, 'cpu_count', eight)", False),
        ("monkeypatch.setattr(torch.cuda, 'device_count', two)", False),
        ("monkeypatch.setattr('shutil.disk_usage', free)", False),
        ("monkeypatch.setenv('HOME', 'x')", False),
    ],
)
def test_what_counts(line: str, counts: bool) -> None:
    assert len(list(replacements(IMPORTS + line))) == counts
