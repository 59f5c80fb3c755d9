"""The committed corpora are those that the generator writes, on every supported Python."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.generator.corpora import TASKS, generate_corpora

COMMITTED = Path(__file__).resolve().parents[2] / "fixtures" / "miniworld"


def test_committed_files_are_reproduced_byte_for_byte() -> None:
    generated = {path: text.encode() for path, text in generate_corpora().items()}
    files = [path for path in COMMITTED.rglob("*") if path.is_file() and path.parent.name != "vectors"]
    committed = {str(path.relative_to(COMMITTED)): path.read_bytes() for path in files}
    assert len(generated) == 20 and sorted(generated) == sorted(committed)
    assert [path for path, text in generated.items() if committed[path] != text] == [], "run `make worlds`"


@pytest.mark.parametrize("files", TASKS)
def test_every_file_depends_on_the_seed(files: Callable[..., dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[files.__module__]
    sizes = "PASSAGES" if hasattr(module, "PASSAGES") else "SIZES"
    monkeypatch.setattr(module, sizes, dict.fromkeys(getattr(module, sizes), 10))
    one, other = files(seed=1), files(seed=2)
    assert [path for path in one if one[path] == other[path]] == []
