"""Tests and documented commands run on Linux and macOS, or say why not."""

import re

import pytest

from tests.tiny import ROOT

SYSTEM_FILES = re.compile(r"[\"'(]/(?:proc|sys)/|[\"'(]/dev/(?:zero|full|fd|null|shm)")
SKIPS = ("require_path(", "skipif(")

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
}
"""What BSD's tools, which macOS has, do not know."""


def test_files_of_one_system_are_read_with_a_skip() -> None:
    without = []
    for file in sorted((ROOT / "tests").rglob("*.py")):
        text = file.read_text()
        reads = SYSTEM_FILES.search(text) and file.name != "test_portability.py"
        if reads and not any(skip in text for skip in SKIPS):
            without.append(file.name)
    assert without == [], "tests/system.py has require_path"


@pytest.mark.parametrize("kind", GNU_ALONE)
def test_documented_commands_run_with_the_tools_of_macos(kind: str) -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "Makefile"]
    found = [
        f"{page.name}: {line}"
        for page in pages
        for line in page.read_text().splitlines()
        if re.search(GNU_ALONE[kind], line)
    ]
    assert found == []
