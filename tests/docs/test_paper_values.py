"""benchmarks/paper_values.py can still make each of its changes of a paper's value."""

import ast
import runpy
from pathlib import Path
from typing import Any

import pytest

CHANGES = runpy.run_path("benchmarks/paper_values.py")["CHANGES"]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.value)
def test_the_code_has_what_is_changed(change: Any) -> None:
    code = Path("elmo_tasks", change.file).read_text()
    assert change.old in code
    changed = code.replace(change.old, change.new, 1)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(code))
    for path in change.tests.split():
        assert Path(path).exists(), path
