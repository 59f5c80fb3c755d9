"""
CoVe: the layers of McCann et al. (2017) from the equations of an LSTM, its files, and
its use as a source of layers.
"""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from allennlp.common import Params
from torch import Tensor

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.bilm.characters import MOST_CHARACTERS
from elmo_tasks.elmo import ElmoVectors
from elmo_tasks.elmo.models.files import resolve
from elmo_tasks.elmo.sources.cove import CoVe
from elmo_tasks.errors import InputError
from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from tests.elmo.samples import Code
from tests.elmo.sources.cove_samples import published_lstm, write_cove, write_vectors
from tests.test_flow import elmo_tasks

WIDTH = 5
SENTENCES = [
    ["The", "harbour", "froze", "over", "."],
    [],
    ["one"],
    ["Ångström", "one", "日" * 15],
]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    vectors_file, weight_file = write_cove(tmp_path, WIDTH)
    return {"vectors_file": vectors_file, "weight_file": weight_file}


def reference_layers(weights: dict[str, Tensor], words: Tensor) -> Tensor:
    """
    The layers [3, T, 2W] of the word vectors [T, W] of a sentence: layer 0 is the word
    vector twice; layers 1 and 2 are the states of an LSTM in both directions, which
    reads the layer below, from the equations.
    """
    layers = [torch.cat([words, words], 1)]
    below = words
    for depth in range(2):
        forward = reference_states(weights, f"l{depth}", below)
        backward = reference_states(weights, f"l{depth}_reverse", below.flip(0))
        below = torch.cat([forward, backward.flip(0)], 1)  # [T, 2W]
        layers.append(below)
    return torch.stack(layers)


def reference_states(weights: dict[str, Tensor], name: str, inputs: Tensor) -> Tensor:
    """The hidden states [T, W] of one direction of one layer."""
    input_weight, hidden_weight = (
        weights[f"weight_ih_{name}"],
        weights[f"weight_hh_{name}"],
    )
    bias = weights[f"bias_ih_{name}"] + weights[f"bias_hh_{name}"]
    hidden = torch.zeros(hidden_weight.shape[1])
    memory = torch.zeros(hidden_weight.shape[1])
    states = []
    for vector in inputs:
        gates = input_weight @ vector + hidden_weight @ hidden + bias
        input_gate, forget_gate, candidate, output_gate = gates.chunk(4)
        memory = (
            forget_gate.sigmoid() * memory + input_gate.sigmoid() * candidate.tanh()
        )
        hidden = output_gate.sigmoid() * memory.tanh()
        states.append(hidden)
    return torch.stack(states)


@pytest.mark.parametrize("width", [WIDTH, 300])
def test_the_layers_are_those_of_the_published_architecture(
    width: int, tmp_path: Path
) -> None:
    cove = CoVe.from_files(*write_cove(tmp_path, width))
    vectors = write_vectors(tmp_path / "glove.txt", width)
    weights = published_lstm(width).state_dict()
    output = cove(batch_to_ids(SENTENCES))
    assert output.mask.sum(1).tolist() == [5, 0, 1, 3]
    assert not output.layers[:, ~output.mask].any()
    for row, sentence in enumerate(SENTENCES):
        if not sentence:
            continue
        words = torch.from_numpy(np.stack([vectors[word] for word in sentence]))
        expected = reference_layers(weights, words)
        found = output.layers[:, row, : len(sentence)]
        assert torch.allclose(found, expected, atol=1e-6)
        alone = cove(batch_to_ids([sentence])).layers[:, 0]
        assert torch.allclose(alone, expected, atol=1e-6)


def test_words_are_looked_up_as_written_and_unknown_ones_are_zeros(
    files: dict[str, str], tmp_path: Path
) -> None:
    """Words of up to 254 bytes are whole: a longer one is none of the file's."""
    vectors = write_vectors(tmp_path / "glove.txt", WIDTH)
    known = ["The", "y" * 48, "é" * 100]
    unknown = ["the", "y" * 47, "y" * 300, ""]
    ids = batch_to_ids([known + unknown], longest=MOST_CHARACTERS)
    layers = CoVe.from_files(**files)(ids).layers[0, 0].numpy()
    for word, found in zip(known, layers, strict=False):
        assert np.allclose(found, np.tile(vectors[word], 2))
    assert not layers[len(known) :].any()


def test_names_with_a_prefix_and_the_formats_of_old_files(
    files: dict[str, str],
) -> None:
    expected = CoVe.from_files(**files)(batch_to_ids(SENTENCES)).layers
    weights = {
        f"rnn.{name}": one for name, one in published_lstm().state_dict().items()
    }
    weight_file = Path(files["weight_file"])
    torch.save(weights, weight_file, _use_new_zipfile_serialization=False)
    assert torch.equal(
        CoVe.from_files(**files)(batch_to_ids(SENTENCES)).layers, expected
    )


WRONG: dict[str, tuple[dict[str, Tensor | None], str]] = {
    "width": (
        {"weight_ih_l0": torch.zeros(20, 7)},
        r"size mismatch for weight_ih_l0: .*20, 7.*20, 5",
    ),
    "other names": ({"weight_hh_l0": None}, r"weights: 'weight_hh_l0' \(the published"),
    "empty": ({"weight_hh_l0": torch.ones(0, 0)}, "expected CoVe's weights: "),
}


@pytest.mark.parametrize("name", WRONG)
def test_weights_that_are_not_coves(files: dict[str, str], name: str) -> None:
    changes, message = WRONG[name]
    weights = {**published_lstm().state_dict(), **changes}
    kept = {key: value for key, value in weights.items() if value is not None}
    torch.save(kept, files["weight_file"])
    with pytest.raises(InputError, match=f"(?s)^{files['weight_file']}: .*{message}"):
        CoVe.from_files(**files)


def test_code_in_pickles_is_not_run(files: dict[str, str], tmp_path: Path) -> None:
    file = Path(files["weight_file"])
    torch.save({"weight_hh_l0": Code(tmp_path / "trace")}, file)
    contents = [file.read_bytes(), pickle.dumps(Code(tmp_path / "trace")), b"nothing"]
    for content in contents:
        file.write_bytes(content)
        with pytest.raises(InputError, match=rf"^{file}: cannot read CoVe's weights"):
            CoVe.from_files(**files)
    assert not (tmp_path / "trace").exists()


def embedder(**keys: Any) -> ElmoTokenEmbedder:
    opened: ElmoTokenEmbedder = ElmoTokenEmbedder.from_params(Params({**keys}))
    return opened.train()


def test_in_an_embedder(files: dict[str, str]) -> None:
    """The options of a biLM, which configs with ELMo have, are ignored."""
    ids = batch_to_ids(SENTENCES)
    keys = {**files, "source": "cove", "options_file": "options.json"}
    elmo = embedder(**keys, mix="weighted")
    assert elmo.input_mix is not None and elmo.input_mix.weights is not None
    elmo.input_mix.weights.data = torch.tensor([0.5, -1.0, 2.0])
    layers = CoVe.from_files(**files)(ids).layers
    weights = elmo.input_mix.weights.softmax(0)[:, None, None, None]
    assert torch.allclose(elmo(ids), (weights * layers).sum(0), atol=1e-6)
    assert torch.equal(embedder(**keys, mix="layer:1")(ids), layers[1])


def test_one_name_of_both_files(files: dict[str, str], tmp_path: Path) -> None:
    name = f"{files['vectors_file']}+{files['weight_file']}"
    found = resolve(name)
    assert found.kind == "cove"
    assert {key: str(path) for key, path in found.paths.items()} == files
    expected = CoVe.from_files(**files)(batch_to_ids(SENTENCES)).layers
    for keys in ({}, {"source": "cove"}, {"options_file": "o", "weight_file": "w"}):
        elmo = embedder(**keys, model=name, mix="last")
        assert torch.equal(elmo(batch_to_ids(SENTENCES)), expected[2])
    with pytest.raises(InputError, match="expected a biLM, got a CoVe"):
        embedder(source="bilm", model=name)
    (tmp_path / "in").write_text(" ".join(SENTENCES[0]))
    elmo_tasks("elmo", tmp_path / "in", tmp_path / "out", "--model", name)
    assert np.allclose(ElmoVectors(tmp_path / "out")[0], expected[:, 0], atol=1e-5)
