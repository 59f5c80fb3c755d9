"""Only commands print, and nothing depends on a bare assert."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "elmo_tasks"
SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent.name != "site")


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def prints_and_asserts(source: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assert):
            found.append(f"assert, line {node.lineno}")
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("print", "pprint"):
            found.append(f"print, line {node.lineno}")
    return found


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_no_prints_and_no_asserts(path: Path) -> None:
    commands = path.parent.name == "commands"
    found = prints_and_asserts(path.read_text())
    assert [f for f in found if not (commands and f.startswith("print"))] == []


def test_prints_and_asserts_are_found() -> None:
    assert prints_and_asserts("assert x\nprint(1)") == ["assert, line 1", "print, line 2"]
