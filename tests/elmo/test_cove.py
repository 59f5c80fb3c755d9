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
from elmo_tasks.bilm.weights import file_sha256
from elmo_tasks.elmo import ElmoTokenEmbedder
from elmo_tasks.elmo.cache import statistics
from elmo_tasks.elmo.cove import CoVe
from elmo_tasks.elmo.sources import Source
from elmo_tasks.errors import InputError
from tests.elmo.cove_samples import WIDTH, published, write_cove, write_vectors
from tests.elmo.samples import write_bilm

SENTENCES = [["The", "harbour", "froze", "over", "."], [], ["one"], ["Ångström", "one", "日" * 15]]


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
    assert output.layers.shape == (3, 4, 5, 2 * WIDTH)
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


@pytest.mark.parametrize("zipped", [True, False])
def test_a_prefix_of_the_names_and_the_old_file_format(files: dict[str, str], zipped: bool) -> None:
    expected = CoVe.from_files(**files)(batch_to_ids(SENTENCES)).layers
    weights = {f"rnn.{name}": value for name, value in published().state_dict().items()}
    torch.save(weights, files["weight_file"], _use_new_zipfile_serialization=zipped)
    assert torch.equal(CoVe.from_files(**files)(batch_to_ids(SENTENCES)).layers, expected)


def changed(**changes: Tensor | None) -> dict[str, Tensor]:
    weights = {**published().state_dict(), **changes}
    return {name: value for name, value in weights.items() if value is not None}


WRONG = [
    ({"weight_hh_l1": None}, r"\n  missing: weight_hh_l1 \(20, 5\)$"),
    ({"weight_ih_l0": torch.zeros(20, 7)}, r"\n  wrong shape: weight_ih_l0: expected \(20, 5\), got \(20, 7\)$"),
    ({"weight_ih_l2": torch.zeros(20, 10)}, r"\n  unused: weight_ih_l2 \(20, 10\)$"),
    ({"bias_ih_l0": torch.full((20,), float("nan"))}, r"\n  not finite numbers: bias_ih_l0$"),
    ({"bias_ih_l0": torch.ones(20).to_sparse()}, r"\n  not finite numbers: bias_ih_l0$"),
    ({"bias_ih_l0": torch.ones(20).int()}, r"\n  not finite numbers: bias_ih_l0$"),
    ({"bias_ih_l0": torch.ones(1).expand(20)}, r"\n  not finite numbers: bias_ih_l0$"),
    ({"bias_ih_l0": torch.full((20,), 1e300, dtype=torch.float64)}, r"\n  not finite numbers: bias_ih_l0$"),
    ({"weight_hh_l0": torch.zeros(0, 0)}, r"expected CoVe's weights, got bias_hh_l0, .* \(the published file is"),
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
    contents = [(file.read_bytes(), code), (pickle.dumps(Code(tmp_path / "trace")), other)]
    contents += [(content, other) for content in (b"", b"no weights", b"e0 1 2 3\n", b"PK\x03\x04", b"\x80\x02}")]
    for content, reason in contents:
        file.write_bytes(content)
        message = rf"^{file}: cannot read CoVe's weights: {reason} \(the published file is"
        with warnings.catch_warnings(action="error"), pytest.raises(InputError, match=message):
            CoVe.from_files(**files)
    torch.save([1, 2], file)
    with pytest.raises(InputError, match="expected CoVe's weights, got list"):
        CoVe.from_files(**files)
    assert not (tmp_path / "trace").exists()


def embedder(**keys: Any) -> ElmoTokenEmbedder:
    return ElmoTokenEmbedder.from_params(Params({"source": "cove", **keys}))


def test_as_the_source_of_an_embedder(files: dict[str, str]) -> None:
    ids = batch_to_ids(SENTENCES)
    elmo = embedder(**files, mix="weighted", at="input")
    elmo.input_mix.weights.data = torch.tensor([0.5, -1.0, 2.0])
    layers = CoVe.from_files(**files)(ids).layers
    expected = (elmo.input_mix.weights.softmax(0)[:, None, None, None] * layers).sum(0)
    assert torch.allclose(elmo(ids), expected, atol=1e-6)
    assert not [name for name, _ in elmo.named_parameters() if "lstm" in name]
    assert torch.equal(embedder(**files, mix="layer:1")(ids), layers[1])


def test_the_cache_separates_word_vectors(files: dict[str, str], tmp_path: Path) -> None:
    ids = batch_to_ids(SENTENCES)
    first = embedder(**files, cache_dir=str(tmp_path / "cache"), mix="last")(ids)
    write_vectors(tmp_path / "glove.txt", seed=4)
    other = embedder(**files, cache_dir=str(tmp_path / "cache"), mix="last")(ids)
    expected = embedder(**files, mix="last")(ids)
    assert not torch.allclose(first, other, atol=1e-2)
    assert torch.allclose(other, expected, atol=1e-3)
    found = statistics(tmp_path / "cache")
    assert [held.sentences for held in found] == [3, 3]
    assert file_sha256(files["vectors_file"]) in {held.bilm["options_sha256"] for held in found}


def test_a_trained_model_needs_the_same_files(files: dict[str, str], tmp_path: Path) -> None:
    state = embedder(**files).state_dict()
    embedder(**files).load_state_dict(state)
    write_vectors(tmp_path / "glove.txt", seed=4)
    with pytest.raises(InputError, match=r"(?s)another CoVe:\n  CoVe's word vectors: expected .*vectors_file and"):
        embedder(**files).load_state_dict(state)
    bilm = dict(zip(("options_file", "weight_file"), write_bilm(tmp_path), strict=True))
    with pytest.raises(InputError, match=r"(?s)another CoVe:.*options: expected none, got sha256 [0-9a-f]{64} "):
        ElmoTokenEmbedder(**bilm).load_state_dict(state)
    assert set(Source.from_state(state["_extra_state"]).files) == {"vectors_file", "weight_file"}


MISTAKES = [
    ({"source": "glove"}, "source: expected .*, got 'glove'"),
    ({"vectors_file": None}, "vectors_file: expected a path or URL, got None"),
    ({"options_file": "options.json"}, "options_file: expected null where source is cove, got 'options.json'"),
    ({"archive": True}, "archive: expected false where source is cove, got True"),
    ({"precision": "bfloat16"}, "precision: expected float32 where source is cove, got 'bfloat16'"),
    ({"state": "carry"}, "state: expected reset where source is cove"),
    ({"vectors_file": "absent"}, "absent: no such file: CoVe's word vectors .set model.elmo.vectors_file"),
    ({"weight_file": "absent"}, "absent: no such file: CoVe's weights .set model.elmo.weight_file"),
]


@pytest.mark.parametrize(("changes", "message"), MISTAKES)
def test_invalid_keys(files: dict[str, str], changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        embedder(**{**files, **changes})
