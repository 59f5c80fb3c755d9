"""`Elmo` with Hugging Face datasets, tested in a separate environment."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elmo_tasks.elmo import Elmo
from tests.elmo.samples import write_bilm

datasets = pytest.importorskip("datasets", reason="tested by make test-adapters")

WORDS = [["Mira", "saw", "it"], [], ["The", "ferry", "left", "."]]


def test_the_cache_depends_on_the_bilm_and_the_settings(tmp_path: Path) -> None:
    datasets.Dataset.from_dict({"tokens": WORDS}).save_to_disk(tmp_path / "data")

    def mapped(seed: int, layers: str = "average") -> str:
        elmo = Elmo.from_files(*write_bilm(tmp_path, seed=seed))

        def embedded(batch: dict[str, Any]) -> dict[str, Any]:
            return {"elmo": elmo.embed(batch["tokens"], layers=layers)}

        loaded = datasets.load_from_disk(tmp_path / "data")
        data = loaded.map(embedded, batched=True)
        expected = elmo.embed(WORDS, layers=layers)
        for row, array in zip(data, expected, strict=True):
            assert np.allclose(
                np.array(row["elmo"]).reshape(array.shape), array, atol=1e-6
            )
        return data._fingerprint

    prints = [mapped(3), mapped(3), mapped(4), mapped(3, "top")]
    assert prints[0] == prints[1] and len(set(prints)) == 3
