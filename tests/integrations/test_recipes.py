"""The classes of docs/ADAPTERS.md for flair and Keras, in separate environments."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.elmo import Elmo

PAGE = Path(__file__).resolve().parents[2] / "docs/ADAPTERS.md"
WORDS = [["Mira", "saw", "the", "ferry"], ["Oakes", "left"]]


def names_of(library: str) -> dict[str, Any]:
    """What the page's block for a library defines."""
    if find_spec(library) is None:
        pytest.skip("tested by make test-adapters")
    pattern = rf"^```python no-run: needs {library}\n(.*?)^```$"
    (block,) = re.findall(pattern, PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"__name__": "recipe"}
    exec(block, names)
    return names


def test_a_tagger_of_flair_is_loaded_with_its_elmo(tmp_path: Path) -> None:
    embeddings = names_of("flair")["ElmoEmbeddings"]()
    from flair.data import Dictionary, Sentence
    from flair.models import SequenceTagger

    sentences = [Sentence(words) for words in WORDS]
    embeddings.embed(sentences)
    expected = Elmo.from_pretrained().embed(WORDS, layers="top", tensors=True)
    for sentence, rows in zip(sentences, expected, strict=True):
        for token, row in zip(sentence, rows, strict=True):
            assert torch.equal(token.embedding.cpu(), row)
    labels = Dictionary(add_unk=False)
    labels.add_item("NAME")
    SequenceTagger(embeddings, labels, "ner", use_crf=False).save(
        tmp_path / "tagger.pt"
    )
    assert (tmp_path / "tagger.pt").stat().st_size < 10**7  # the biLM has 20 MB
    loaded = SequenceTagger.load(tmp_path / "tagger.pt")
    assert loaded.embeddings.to_params() == embeddings.to_params()


def test_a_layer_of_keras_mixes_masks_and_is_loaded(tmp_path: Path) -> None:
    names = names_of("keras")
    ids = batch_to_ids(WORDS)
    layer = names["ElmoLayer"]()
    layer.set_weights([torch.tensor([0.5, -1.0, 2.0]), torch.tensor(3.0)])
    layers, mask = Elmo.from_pretrained()(WORDS)
    weights = torch.tensor([0.5, -1.0, 2.0]).softmax(0)[:, None, None, None]
    assert torch.allclose(layer(ids).cpu(), 3.0 * (weights * layers).sum(0), atol=1e-6)
    assert torch.equal(layer.compute_mask(ids).cpu(), mask)
    assert len(layer.trainable_weights) == 2
    names["model"].save(tmp_path / "model.keras")
    loaded = names["keras"].saving.load_model(tmp_path / "model.keras")
    assert torch.allclose(loaded(ids), names["model"](ids))
