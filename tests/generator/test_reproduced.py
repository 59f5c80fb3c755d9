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
    generated = generate_corpora(seed=SEED)
    assert len(generated) == 19
    differing = []
    for path, text in generated.items():
        found: Any = text
        committed: Any = (COMMITTED / path).read_bytes().decode()
        if path.startswith("lm/"):
            committed = "".join(committed.splitlines(keepends=True)[:SENTENCES])
        if path.startswith("squad/"):
            found = json.loads(found)["data"]
            committed = json.loads(committed)["data"][:1]
        if found != committed:
            differing.append(path)
    assert differing == [], "run make generated"
