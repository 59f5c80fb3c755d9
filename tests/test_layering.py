"""Imports run one way, only commands print, and nothing rests on a bare assert."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "elmo_tasks"
SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent.name != "site")

GROUND = {"", "compat"} | {path.stem for path in PACKAGE.glob("[!_]*.py")} - {"plugin"}
SHARED = {"elmo", "nn", "data", "training"}
TASKS = {"squad", "snli", "srl", "coref", "ner", "sst", "pretrain", "miniworld"}
EXPERIMENTS = {"probes", "ablation", "checks"}
LEVELS = [GROUND, SHARED, TASKS, EXPERIMENTS, {"commands"}, {"plugin"}]


def room_of(module: str) -> str:
    """The second part of a dotted name: `elmo_tasks.ner.model` is in `ner`."""
    return (module.split(".") + [""])[1]


def level_of(room: str) -> int:
    return next(level for level, rooms in enumerate(LEVELS) if room in rooms)


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path, tree: ast.AST) -> Iterator[str]:
    """The modules of ours that a file imports, anywhere in it, under their full names."""
    package = module_name(path).split(".")
    package = package if path.name == "__init__.py" else package[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("elmo_tasks"))
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *(node.module or "").split(".")]).rstrip(".")
            if origin == "elmo_tasks":
                yield from (f"elmo_tasks.{alias.name}" for alias in node.names)
            elif origin.startswith("elmo_tasks."):
                yield origin


def test_the_whole_package_is_seen() -> None:
    seen = {room_of(module_name(path)) for path in SOURCES}
    assert {"compat", "data", "elmo", "plugin", "settings"} <= seen


def violations(path: Path, source: str) -> list[str]:
    """What the file imports although its room lies below, or beside as another task."""
    own = room_of(module_name(path))
    found = []
    for module in imported(path, ast.parse(source)):
        other = room_of(module)
        rooms = set().union(*LEVELS)
        if other == own or other not in rooms:
            continue
        neighbours = level_of(own) == level_of(other) and own in TASKS
        if level_of(other) > level_of(own) or neighbours:
            found.append(f"{own} imports {module}")
    return found


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_imports_run_one_way(path: Path) -> None:
    assert room_of(module_name(path)) in set().union(*LEVELS), "a room without a level"
    assert violations(path, path.read_text()) == []


@pytest.mark.parametrize(
    ("file", "source", "found"),
    [
        ("elmo/mix.py", "from elmo_tasks.ner import model", ["elmo imports elmo_tasks.ner"]),
        ("ner/model.py", "import elmo_tasks.srl.reader", ["ner imports elmo_tasks.srl.reader"]),
        ("ner/model.py", "from ..pretrain import x", ["ner imports elmo_tasks.pretrain"]),
        ("nn/a.py", "def f():\n  from elmo_tasks import probes", ["nn imports elmo_tasks.probes"]),
        ("ner/model.py", "from elmo_tasks.elmo import mix\nfrom .reader import x", []),
        ("commands/demo.py", "from elmo_tasks.ablation import table", []),
        ("settings.py", "from elmo_tasks import __version__", []),
    ],
)
def test_a_wrong_direction_is_found(file: str, source: str, found: list[str]) -> None:
    assert violations(PACKAGE / file, source) == found


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
    commands = room_of(module_name(path)) == "commands"
    found = prints_and_asserts(path.read_text())
    assert [f for f in found if not (commands and f.startswith("print"))] == []


def test_prints_and_asserts_are_found() -> None:
    assert prints_and_asserts("assert x\nprint(1)") == ["assert, line 1", "print, line 2"]
