"""Documented commands run on Linux and macOS."""

import re

import pytest

from tests.tiny import ROOT

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
