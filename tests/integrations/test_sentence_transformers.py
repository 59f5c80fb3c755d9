"""
`ElmoModule` in a `SentenceTransformer`, tested in a separate environment with
transformers 5.
"""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sentence_transformers", "6", reason="tested by make test-adapters")

from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling

from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.integrations.sentence_transformers import ElmoModule
from tests.elmo.samples import write_bilm

TEXT = ["The harbour froze over .", "", "one", "a b c d e f g h i j k l"]


def digests(elmo: Elmo) -> dict[str, str]:
    """The SHA-256 of each of the model's files."""
    return elmo.layers.files.sha256


def test_encode_save_and_load(tmp_path: Path) -> None:
    elmo = Elmo.from_files(*write_bilm(tmp_path))
    words = ElmoModule(elmo, layers="top")
    model = SentenceTransformer(
        modules=[words, Pooling(words.get_embedding_dimension(), "mean")], device="cpu"
    )
    expected = elmo.encode(TEXT, layers="top")
    assert np.allclose(model.encode(TEXT, batch_size=2), expected, atol=1e-6)
    assert np.allclose(model.encode(TEXT[0]), expected[0], atol=1e-6)
    assert np.allclose(
        model.encode(["froze over ."], prompt="The harbour "), expected[:1], atol=1e-6
    )
    assert model.similarity(expected, expected).shape == (4, 4)
    model.save(str(tmp_path / "model"))
    again = SentenceTransformer(
        str(tmp_path / "model"), device="cpu", trust_remote_code=True
    )
    assert again[0].layers == "top"
    assert digests(again[0].elmo) == digests(elmo)
    assert np.allclose(again.encode(TEXT), expected, atol=1e-6)
    with pytest.raises(InputError, match="layers: expected one vector per word"):
        ElmoModule(elmo, layers="all")


def test_tokenizers(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    elmo = Elmo.from_files(*write_bilm(tmp_path))
    raw, split = ["She can't hear it."], [["She", "ca", "n't", "hear", "it", "."]]
    expected = elmo.encode(split, layers="top")
    basic = Elmo.from_files(*write_bilm(tmp_path), tokenizer="basic")
    for words in (
        ElmoModule(elmo, layers="top", tokenizer="basic"),
        ElmoModule(basic, layers="top"),
    ):
        pooling = Pooling(words.get_embedding_dimension(), "mean")
        model = SentenceTransformer(modules=[words, pooling], device="cpu")
        assert np.allclose(model.encode(raw), expected, atol=1e-6)
        model.save(str(tmp_path / "model"))
        again = SentenceTransformer(
            str(tmp_path / "model"), device="cpu", trust_remote_code=True
        )
        assert np.allclose(again.encode(raw), expected, atol=1e-6)
    assert caplog.records == []
    ElmoModule(elmo, layers="top", tokenizer="whitespace").preprocess(raw)
    assert "the tokenizer basic" in caplog.text
    with pytest.raises(InputError, match="expected the name of a tokenizer to save"):
        ElmoModule(elmo, tokenizer=str.split).save(str(tmp_path / "other"))
