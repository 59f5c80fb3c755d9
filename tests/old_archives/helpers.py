"""What the tests of old archives have in common."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.comparison import assert_same
from tests.fuzz.subjects import with_member
from tests.old_archives.families import FAMILIES, OF_TRANSFORMERS


def given(name: str, place: Path) -> dict[str, str]:
    """Where the family's transformer is."""
    if name not in OF_TRANSFORMERS:
        return {}
    transformer = OF_TRANSFORMERS[name]
    return {transformer: str(place / transformer)}


def options(name: str, place: Path) -> list[str]:
    """The same for the command line."""
    found = []
    for transformer, folder in given(name, place).items():
        found += ["--local", f"{transformer}={folder}"]
    return found


def write_lines(name: str, file: Path) -> Path:
    lines = [json.dumps(line) + "\n" for line in FAMILIES[name].lines]
    file.write_text("".join(lines))
    return file


def assert_alike(found: Any, expected: Any) -> None:
    """The same JSON, but for rounding."""
    assert_same(found, expected, atol=1e-6)


def changed(archive: Path, changes: Callable[[str], str], target: Path) -> Path:
    """A copy of an archive with another text in its config."""
    config = changes((archive.parent / "config.json").read_text())
    target.write_bytes(with_member("config.json", config.encode(), archive))
    return target
