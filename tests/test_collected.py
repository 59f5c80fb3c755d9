"""No test may hide in a file, or a folder, that pytest does not collect from."""

import ast
from pathlib import Path

TESTS = Path(__file__).resolve().parent
SOURCES = sorted(TESTS.rglob("*.py"))


def defines_tests(path: Path) -> bool:
    names = [n.name for n in ast.walk(ast.parse(path.read_text())) if hasattr(n, "name")]
    return any(str(name).startswith(("test_", "Test")) for name in names)


def test_every_file_with_tests_is_collected() -> None:
    with_tests = [path for path in SOURCES if defines_tests(path)]
    assert len(with_tests) >= 7
    assert [str(p) for p in with_tests if not p.name.startswith("test_")] == []


def test_every_folder_is_a_package() -> None:
    folders = {path.parent for path in SOURCES}
    assert TESTS in folders
    assert [str(f) for f in sorted(folders) if not (f / "__init__.py").is_file()] == []
