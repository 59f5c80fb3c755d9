"""The blocks of fixtures/generator/README.md print what it shows."""

import runpy
import sys
from pathlib import Path

import pytest

from tests.docs.test_examples import blocks_of
from tests.tiny import ROOT

OUTPUTS = 2
"""The annotated phrase, and its semantic roles."""


def test_blocks_print_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = blocks_of(ROOT / "fixtures/generator/README.md")
    script = blocks[0].text.splitlines(keepends=True)[1:-1]  # without `cat` and `EOF`
    (tmp_path / "example.py").write_text("".join(script))
    monkeypatch.syspath_prepend(tmp_path)
    outputs = 0
    for code, output in zip(blocks[:-1], blocks[1:], strict=True):
        if code.info == "python":
            block = tmp_path / "block.py"
            block.write_text(code.text)
            runpy.run_path(str(block))
            sys.modules.pop("example")  # each block is a program of its own
            printed = capsys.readouterr().out
            assert printed.rstrip() == output.text.rstrip(), f"line {output.line}"
            outputs += 1
    assert outputs == OUTPUTS
