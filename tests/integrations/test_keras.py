"""`ElmoLayer` in Keras 3 on torch, tested in a separate environment."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from tests.elmo.samples import write_bilm

os.environ["KERAS_BACKEND"] = "torch"
keras = pytest.importorskip("keras", reason="tested by make test-adapters")

from elmo_tasks.integrations.keras import ElmoLayer  # noqa: E402

TEXTS = [["Mira", "saw", "the", "ferry"], ["the", "ferry", "left"], ["Oakes", "left"]]
LABELS = [[1, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]]


@pytest.fixture
def model_name(tmp_path: Path) -> str:
    keras.utils.set_random_seed(1)
    return "+".join(write_bilm(tmp_path))


def tagger(model_name: str) -> "keras.Model":
    """Tags of words, with a mask of the padding."""
    ids = keras.Input((None, 50), dtype="int64")
    vectors = ElmoLayer(model_name)(ids)
    hidden = keras.layers.Bidirectional(
        keras.layers.LSTM(8, return_sequences=True), name="lstm"
    )(vectors)
    tags = keras.layers.Dense(1, activation="sigmoid")(hidden)
    return keras.Model(ids, tags)


def test_vectors_are_the_mix_of_the_layers(model_name: str) -> None:
    layer = ElmoLayer(model_name)
    layer.set_weights([np.array([0.5, -1.0, 2.0]), np.array(3.0)])
    ids = batch_to_ids(TEXTS)
    found = layer(ids)
    layers, mask = Elmo.from_pretrained(model_name)(TEXTS)
    weights = torch.tensor([0.5, -1.0, 2.0]).softmax(0)[:, None, None, None]
    expected = 3.0 * (weights * layers).sum(0)
    assert torch.allclose(found.cpu(), expected, atol=1e-6)
    assert torch.equal(layer.compute_mask(ids).cpu(), mask)
    assert len(layer.trainable_weights) == 2


@pytest.mark.parametrize(
    "policy", ["float64", "bfloat16", "mixed_bfloat16", "mixed_float16"]
)
def test_other_data_types(model_name: str, policy: str) -> None:
    """Ids may be floats, Keras' default: their values stay whatever the policy."""
    expected = ElmoLayer(model_name)(batch_to_ids(TEXTS))
    layer = ElmoLayer(model_name, dtype=policy)
    found = layer(batch_to_ids(TEXTS))
    assert keras.backend.standardize_dtype(found.dtype) == layer.compute_dtype
    assert torch.allclose(found.to(expected), expected, rtol=0.01, atol=0.01)
    assert torch.equal(layer(batch_to_ids(TEXTS).float()), found)


def test_a_tagger_trains_saves_and_loads(model_name: str, tmp_path: Path) -> None:
    """Words alone count: what padding would be tagged as does not matter."""
    model = tagger(model_name)
    assert model.output_shape == (None, None, 1)
    model.compile(keras.optimizers.Adam(0.03), "binary_crossentropy")
    ids = batch_to_ids(TEXTS).numpy()
    gold = np.array(LABELS, dtype="float32")[:, :, None]
    before = [weight.numpy().copy() for weight in model.layers[1].weights]
    model.fit(ids, gold, epochs=40, verbose=0)
    for old, weight in zip(before, model.layers[1].weights, strict=True):
        assert not np.allclose(old, weight.numpy())
    tags = model.predict(ids, verbose=0)
    words = ids.any(2)
    assert ((tags[:, :, 0] > 0.5) == gold[:, :, 0].astype(bool))[words].all()
    alone = model.predict(ids[2:, :2], verbose=0)
    assert np.allclose(alone, tags[2:, :2], atol=1e-5)
    model.save(tmp_path / "tagger.keras")
    assert (tmp_path / "tagger.keras").stat().st_size < 10**6
    loaded = keras.saving.load_model(tmp_path / "tagger.keras")
    assert np.allclose(loaded.predict(ids, verbose=0), tags, atol=1e-6)


def test_an_unknown_model() -> None:
    with pytest.raises(InputError, match="no such model"):
        ElmoLayer("elmo-orignal")
