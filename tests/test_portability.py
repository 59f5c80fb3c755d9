"""Tests and documented commands run on Linux and macOS, or say why not."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tiny import ROOT

SYSTEM_FILES = re.compile(r"/(?:proc|sys)(?:/|$)|/dev/(?:zero|full|fd|null|shm)")
SKIPS = ("require_path(", "skipif(")
GUARDED_BY_THEIR_CALLERS = {
    "hostile.py": {"_memory", "_bound"},  # by `outcome`
    "memory.py": {"_STATUS"},
}

GNU_ALONE = {
    "sed without a suffix for -i": r"\bsed (?:-\w+ )*-i(?!\.)",
    "readlink": r"\breadlink -f\b",
    "date": r"\bdate (?:-d|--date)\b",
    "stat": r"\bstat (?:-c|--format)\b",
    "grep": r"\bgrep -\w*P",
    "xargs": r"\bxargs -\w*r\b",
    "head and tail": r"\b(?:head|tail) -n? ?-\d",
    "long options": r"\b(?:ls|cp|mv|rm|sort|head|tail|cut|wc|mkdir|du) (?:-\w+ )*--\w",
    "nproc": r"\$\(nproc\)",
    "commands": r"(?:^|[|;&`(]) *(?:timeout|tac|shuf|sha256sum|md5sum|setsid|numfmt) (?!=)",
    "find": r"\bfind .*-printf\b",
    "base64": r"\bbase64 -w",
    "sort": r"\bsort -\w*V",
}
"""What BSD's tools, which macOS has, do not know."""


def parts(tree: ast.AST) -> Iterator[ast.stmt]:
    """
    The functions and the other statements of a file, without those inside a class.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from parts(node)
        elif isinstance(node, ast.stmt):
            yield node


def name_of(part: ast.stmt) -> str:
    if isinstance(part, ast.Assign):
        return ast.unparse(part.targets[0])
    return str(getattr(part, "name", ""))


def without_skip(source: str) -> list[str]:
    """
    The functions, and lines outside of them, that name a file of one system and neither
    skip nor mark a test.
    """
    found = []
    for part in parts(ast.parse(source)):
        if names_a_system_file(part) and not skips(part):
            found.append(name_of(part) or f"line {part.lineno}")
    return found


def names_a_system_file(part: ast.stmt) -> bool:
    for node in ast.walk(part):
        if isinstance(node, ast.Constant) and SYSTEM_FILES.match(str(node.value)):
            return True
    return False


def skips(part: ast.stmt) -> bool:
    text = ast.unparse(part)
    return any(skip in text for skip in SKIPS)


def test_files_of_one_system_are_read_with_a_skip() -> None:
    without = []
    for file in sorted((ROOT / "tests").rglob("*.py")):
        if file != Path(__file__):
            exempt = GUARDED_BY_THEIR_CALLERS.get(file.name, set())
            for name in without_skip(file.read_text()):
                if name not in exempt:
                    without.append(f"{file.name}: {name}")
    assert without == [], "tests/system.py has require_path"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def test_x():\n    open('/dev/full')", ["test_x"]),
        ("class A:\n    def f(self):\n        Path('/proc').glob('*')", ["f"]),
        ("def f(x):\n    open(f'/proc/{x}/stat')", ["f"]),
        ("DISK = '/dev/full'", ["DISK"]),
        ("require_path('/dev/full')\ndef f():\n    open('/dev/full')", ["f"]),
        ("def f():\n    require_path('/dev/full')\n    open('/dev/full')", []),
        ("def f():\n    open('/development/x')", []),
    ],
)
def test_what_needs_a_skip(source: str, found: list[str]) -> None:
    assert without_skip(source) == found


@pytest.mark.parametrize("kind", GNU_ALONE)
def test_documented_commands_run_with_the_tools_of_macos(kind: str) -> None:
    pages = [ROOT / "Makefile"]
    pages.extend(ROOT.glob("*.md"))
    pages.extend(ROOT.glob("docs/*.md"))
    pages.extend([ROOT / "benchmarks/README.md", ROOT / "tests/README.md"])
    found = []
    for page in pages:
        for line in page.read_text().splitlines():
            if re.search(GNU_ALONE[kind], line):
                found.append(f"{page.name}: {line}")
    assert found == []
