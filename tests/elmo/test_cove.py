"""CoVe: the layers of a plain `nn.LSTM`, its files, and its use as a source of layers."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from allennlp.common import Params
from torch import Tensor, nn

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.elmo.cache import statistics
from elmo_tasks.elmo.cove import CoVe
from elmo_tasks.elmo.source_types import register_source
from elmo_tasks.errors import InputError
from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from tests.elmo.cove_samples import WIDTH, published, write_cove, write_vectors

SENTENCES = [["The", "harbour", "froze", "over", "."], [], ["one"], ["Ångström", "one", "日" * 15]]


@register_source("louder", files=dict.fromkeys(("vectors_file", "weight_file"), "a file"))
def louder(vectors_file: Path, weight_file: Path) -> CoVe:
    cove = CoVe.from_files(vectors_file, weight_file)
    cove.lstms[1].bias_ih_l0 += 1.0
    return cove


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    vectors_file, weight_file = write_cove(tmp_path)
    return {"vectors_file": vectors_file, "weight_file": weight_file}


def reference(sentence: list[str], vectors: dict[str, np.ndarray]) -> Tensor:
    """[L+1, T, 2P] by the plain LSTM: all layers of it by a pass with two and a pass with one."""
    full, first = published(), nn.LSTM(WIDTH, WIDTH, bidirectional=True, batch_first=True)
    first.load_state_dict({name: value for name, value in full.state_dict().items() if "_l0" in name})
    words = torch.stack([torch.from_numpy(vectors.get(word, np.zeros(WIDTH, np.float32))) for word in sentence])
    with torch.no_grad():
        return torch.stack([torch.cat([words, words], -1), first(words[None])[0][0], full(words[None])[0][0]])


def test_the_layers_are_those_of_a_plain_lstm(files: dict[str, str], tmp_path: Path) -> None:
    vectors, cove = write_vectors(tmp_path / "glove.txt"), CoVe.from_files(**files)
    output = cove(batch_to_ids(SENTENCES))
    assert output.mask.sum(1).tolist() == [5, 0, 1, 3]
    assert cove(batch_to_ids([[], []])).layers.shape == (3, 2, 0, 2 * WIDTH)
    assert not output.layers[:, ~output.mask].any()
    for row, sentence in enumerate(SENTENCES):
        if sentence:
            found = output.layers[:, row, : len(sentence)]
            assert torch.allclose(found, reference(sentence, vectors), atol=1e-6)
            assert torch.allclose(found, cove(batch_to_ids([sentence])).layers[:, 0], atol=1e-6)


def test_unknown_words_are_zeros(files: dict[str, str], tmp_path: Path) -> None:
    """Also those that character ids cut, or that are sentence boundaries there, though the file has them."""
    vectors, cove = write_vectors(tmp_path / "glove.txt"), CoVe.from_files(**files)
    sentence = ["the", "y" * 48, "y" * 49, "é" * 30, "<S>", "The"]
    layers = cove(batch_to_ids([sentence])).layers[0, 0]
    assert not layers[:5].any()
    assert np.allclose(layers[5].numpy(), np.tile(vectors["The"], 2))


def test_a_prefix_of_the_names_and_the_old_file_format(files: dict[str, str]) -> None:
    expected = CoVe.from_files(**files)(batch_to_ids(SENTENCES)).layers
    weights = {f"rnn.{name}": value for name, value in published().state_dict().items()}
    torch.save(weights, files["weight_file"], _use_new_zipfile_serialization=False)
    assert torch.equal(CoVe.from_files(**files)(batch_to_ids(SENTENCES)).layers, expected)


def changed(**changes: Tensor | None) -> dict[str, Tensor]:
    weights = {**published().state_dict(), **changes}
    return {name: value for name, value in weights.items() if value is not None}


WRONG = [
    ({"weight_hh_l1": None}, r"Missing key.*weight_hh_l1"),
    ({"weight_ih_l0": torch.zeros(20, 7)}, r"size mismatch for weight_ih_l0: .*20, 7.*20, 5"),
    ({"weight_ih_l2": torch.zeros(20, 10)}, r"Unexpected key.*weight_ih_l2"),
    ({"bias_ih_l0": torch.full((20,), float("nan"))}, "expected finite numbers .* bias_ih_l0$"),
    ({"bias_ih_l0": torch.ones(20).to_sparse()}, "expected finite numbers .* bias_ih_l0$"),
    ({"bias_ih_l0": torch.ones(20).int()}, "bias_ih_l0"),
    ({"weight_hh_l0": None}, r"expected CoVe's weights, got bias_hh_l0, .* \(the published file is"),
]


@pytest.mark.parametrize(("changes", "message"), WRONG)
def test_weights_that_are_not_coves(files: dict[str, str], changes: dict[str, Any], message: str) -> None:
    torch.save(changed(**changes), files["weight_file"])
    with pytest.raises(InputError, match=f"(?s)^{files['weight_file']}: .*{message}"):
        CoVe.from_files(**files)


class Code:
    """What a pickle may hold: a call that leaves a trace."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return open, (str(self.trace), "w")


def test_code_in_pickles_is_never_run(files: dict[str, str], tmp_path: Path) -> None:
    file = Path(files["weight_file"])
    torch.save({"weight_hh_l0": Code(tmp_path / "trace")}, file)
    code, other = r"it holds code, (_io|io)\.open, which is not run", "torch did not write it, or it is damaged"
    contents = [(file.read_bytes(), code), (pickle.dumps(Code(tmp_path / "trace")), other), (b"no weights", other)]
    for content, reason in contents:
        file.write_bytes(content)
        message = rf"^{file}: cannot read CoVe's weights: {reason} \(the published file is"
        with warnings.catch_warnings(action="error"), pytest.raises(InputError, match=message):
            CoVe.from_files(**files)
    assert not (tmp_path / "trace").exists()


def embedder(**keys: Any) -> ElmoTokenEmbedder:
    return ElmoTokenEmbedder.from_params(Params({"source": "cove", **keys})).train()


def test_as_the_source_of_an_embedder(files: dict[str, str]) -> None:
    ids = batch_to_ids(SENTENCES)
    elmo = embedder(**files, mix="weighted", at="input")
    elmo.input_mix.weights.data = torch.tensor([0.5, -1.0, 2.0])
    layers = CoVe.from_files(**files)(ids).layers
    expected = (elmo.input_mix.weights.softmax(0)[:, None, None, None] * layers).sum(0)
    assert torch.allclose(elmo(ids), expected, atol=1e-6)
    assert torch.equal(embedder(**files, mix="layer:1")(ids), layers[1])


def test_the_cache_separates_word_vectors_and_sources(files: dict[str, str], tmp_path: Path) -> None:
    ids = batch_to_ids(SENTENCES)
    keys = {**files, "cache_dir": str(tmp_path / "cache"), "mix": "last"}
    first = embedder(**keys)(ids)
    write_vectors(tmp_path / "glove.txt", seed=4)
    other = embedder(**keys)(ids)
    expected = embedder(**files, mix="last")(ids)
    assert not torch.allclose(first, other, atol=1e-2)
    assert torch.allclose(other, expected, atol=1e-3)
    assert not torch.allclose(other, embedder(**keys, source="louder")(ids), atol=1e-2)
    assert [held.sentences for held in statistics(tmp_path / "cache")] == [3, 3, 3]


def test_a_trained_model_needs_the_same_files(files: dict[str, str], tmp_path: Path) -> None:
    state = embedder(**files).state_dict()
    embedder(**files).load_state_dict(state)
    with pytest.raises(InputError, match="with the source cove, got louder .set model.elmo.source to cove, and "):
        embedder(**files, source="louder").load_state_dict(state)
    write_vectors(tmp_path / "glove.txt", seed=4)
    with pytest.raises(InputError, match=r"(?s)another CoVe:\n  CoVe's word vectors: expected .*vectors_file and"):
        embedder(**files).load_state_dict(state)


@pytest.mark.parametrize(
    ("name", "files", "message"),
    [
        ("cove", {"model": "a"}, "a new name"),
        ("x", {}, "one or two of .*, got none"),
        ("x", {"wights": "a"}, "got wigh"),
    ],
)
def test_a_source_cannot_be_registered(name: str, files: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        register_source(name, files=files)
