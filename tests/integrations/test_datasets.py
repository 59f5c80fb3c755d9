"""`Elmo.embed_batch` with Hugging Face datasets, tested in a separate environment."""

from pathlib import Path

import numpy as np
import pytest

from elmo_tasks.elmo import Elmo
from tests.elmo.samples import write_bilm

datasets = pytest.importorskip("datasets", reason="tested by make test-adapters")

WORDS = [["Mira", "saw", "it"], [], ["The", "ferry", "left", "."]]


def test_the_cache_depends_on_the_bilm_and_the_settings(tmp_path: Path) -> None:
    datasets.Dataset.from_dict({"tokens": WORDS}).save_to_disk(tmp_path / "data")

    def mapped(seed: int, **options: object) -> str:
        elmo = Elmo.from_files(*write_bilm(tmp_path, seed=seed))
        data = datasets.load_from_disk(tmp_path / "data").map(
            elmo.embed_batch, batched=True, fn_kwargs=options
        )
        expected = elmo.embed(WORDS, **{"layers": "average", **options})
        for row, array in zip(data, expected, strict=True):
            assert np.allclose(
                np.array(row["elmo"]).reshape(array.shape), array, atol=1e-6
            )
        return data._fingerprint

    prints = [mapped(3), mapped(3), mapped(4), mapped(3, layers="top")]
    assert prints[0] == prints[1] and len(set(prints)) == 3


def test_raw_text(tmp_path: Path) -> None:
    elmo = Elmo.from_files(*write_bilm(tmp_path))
    data = datasets.Dataset.from_dict({"text": ["It ended.", "She left."]})
    options = {"column": "text", "tokenizer": "basic"}
    found = data.map(elmo.embed_batch, batched=True, fn_kwargs=options)
    expected = elmo.embed(
        [["It", "ended", "."], ["She", "left", "."]], layers="average"
    )
    for row, array in zip(found, expected, strict=True):
        assert np.allclose(np.array(row["elmo"]), array, atol=1e-6)
