"""The generator writes the committed corpora, on every supported Python."""

import json
from pathlib import Path
from typing import Any

import pytest

from fixtures.generator.corpora import SEED, generate_corpora
from fixtures.generator.tasks import lm, squad

COMMITTED = Path(__file__).resolve().parents[2] / "fixtures" / "miniworld"

SENTENCES = 1000


@pytest.mark.slow
def test_committed_files_are_reproduced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte for byte; of the large files, the first part is generated."""
    monkeypatch.setattr(
        squad, "PASSAGES", dict.fromkeys(squad.PASSAGES, squad.PARAGRAPHS)
    )
    monkeypatch.setattr(lm, "SIZES", {"lm/train.miniworld.txt": SENTENCES})
    generated: dict[str, Any] = dict(generate_corpora(seed=SEED))
    committed: dict[str, Any] = {
        path: (COMMITTED / path).read_bytes().decode() for path in generated
    }
    for path in generated:
        if path.startswith("lm/"):
            committed[path] = "".join(
                committed[path].splitlines(keepends=True)[:SENTENCES]
            )
        if path.startswith("squad/"):
            generated[path] = json.loads(generated[path])["data"]
            committed[path] = json.loads(committed[path])["data"][:1]
    assert len(generated) == 19
    assert [
        path for path, text in generated.items() if committed[path] != text
    ] == [], "run `make worlds`"
