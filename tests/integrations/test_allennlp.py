"""
`ElmoEmbedder`: the shapes of AllenNLP's class, and the layers of the biLM from zero
states.
"""

import numpy as np
import pytest
import torch

from elmo_tasks import ElmoEmbedder
from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.errors import InputError
from elmo_tasks.resources import embedded_bilm

SENTENCES = [["She", "heard", "the", "play", "."], [], ["It", "ended", "."]]


@pytest.fixture(scope="module")
def embedder() -> ElmoEmbedder:
    return ElmoEmbedder(*embedded_bilm())


@pytest.fixture(scope="module")
def bilm() -> BiLM:
    return BiLM.from_files(*embedded_bilm())


def alone(bilm: BiLM, words: list[str]) -> np.ndarray:
    """The layers [3, T, D] of one sentence from zero states."""
    with torch.no_grad():
        layers, _ = bilm(batch_to_ids([words]))
    return np.asarray(layers[:, 0])


def test_the_layers_of_the_bilm(embedder: ElmoEmbedder, bilm: BiLM) -> None:
    found = embedder.embed_batch(SENTENCES)
    assert [array.shape for array in found] == [(3, 5, 320), (3, 0, 320), (3, 3, 320)]
    for words, array in zip(SENTENCES, found, strict=True):
        assert array.dtype == np.float32
        if words:
            np.testing.assert_allclose(array, alone(bilm, words), atol=1e-5)
            again = embedder.embed_sentence(words)
            np.testing.assert_allclose(again, array, atol=1e-5)
    streamed = embedder.embed_sentences(iter(SENTENCES), batch_size=1)
    for array, one in zip(found, streamed, strict=True):
        np.testing.assert_allclose(one, array, atol=1e-5)


def test_batch_to_embeddings(embedder: ElmoEmbedder) -> None:
    vectors, mask = embedder.batch_to_embeddings(SENTENCES)
    assert vectors.shape == (3, 3, 5, 320) and mask.sum(1).tolist() == [5, 0, 3]
    expected = embedder.embed_sentence(SENTENCES[2])
    np.testing.assert_allclose(vectors[2, :, :3], expected, atol=1e-5)


def test_the_default_is_the_papers_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not downloaded here: the error names what would be."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    with pytest.raises(InputError, match="elmo_2x4096_512_2048cnn_2xhighway"):
        ElmoEmbedder()
