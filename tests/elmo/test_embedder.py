"""
The frozen embedder: two places from one pass, the biLM outside of the model, and config
keys.
"""

import copy
import pickle
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.modules.token_embedders import TokenEmbedder
from torch import nn

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.errors import InputError
from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from elmo_tasks.resources import fixtures_root
from tests.elmo.samples import SENTENCES
from tests.tiny import bilm_files

IDS = batch_to_ids(SENTENCES)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return bilm_files(tmp_path_factory.mktemp("bilm"))


def test_one_pass_serves_both_places(files: dict[str, str]) -> None:
    elmo = ElmoTokenEmbedder.open(**files, at="both", l2=0.5)
    elmo.output_mix.weights.data = torch.tensor([0.0, 100.0, 0.0])
    output = elmo.layers(IDS)
    before, after = elmo.input_vectors(output), elmo.output_vectors(output)
    torch.testing.assert_close(before, output.layers.mean(0))
    torch.testing.assert_close(after, output.layers[1])
    with pytest.raises(ValueError, match="no vectors for this place: at is 'input'"):
        ElmoTokenEmbedder.open(**files).output_vectors(output)
    assert before.shape == (7, 7, elmo.get_output_dim()) == (7, 7, 12)
    assert torch.equal(output.layers, BiLM.from_files(**files)(IDS).layers)


def test_describe(files: dict[str, str]) -> None:
    elmo = ElmoTokenEmbedder.open(**files, at="both", mix="weighted")
    elmo.input_mix.gamma.data = torch.tensor(1.5)
    learned = elmo.describe()
    names = ["elmo_input_s0", "elmo_input_s1", "elmo_input_s2", "elmo_input_gamma"]
    names += ["elmo_output_s0", "elmo_output_s1", "elmo_output_s2"]
    names += ["elmo_output_gamma"]
    assert list(learned) == names
    assert learned["elmo_input_gamma"] == 1.5 and learned[
        "elmo_output_s1"
    ] == pytest.approx(1 / 3)
    assert list(ElmoTokenEmbedder.open(**files, mix="last").describe()) == [
        "elmo_input_gamma"
    ]
    assert ElmoTokenEmbedder.open(**files, mix="layer:0", gamma=False).describe() == {}


def test_dropout_is_independent_for_each_place(files: dict[str, str]) -> None:
    elmo = ElmoTokenEmbedder.open(**files, at="both", dropout=0.5)
    output = elmo.layers(IDS)
    one, other = elmo.input_vectors(output), elmo.output_vectors(output)
    kept = output.layers.mean(0) != 0
    dropped = (one == 0) & kept
    assert 0.3 < dropped.float().sum() / kept.float().sum() < 0.7
    assert not torch.equal(one == 0, other == 0)
    elmo.eval()
    torch.testing.assert_close(elmo.input_vectors(output), output.layers.mean(0))


def test_training_never_touches_the_bilm(files: dict[str, str]) -> None:
    model = nn.Sequential(
        ElmoTokenEmbedder.open(**files, dropout=0.1), nn.Linear(12, 2)
    )
    state = [
        "0.input_mix.gamma",
        "0.input_mix.weights",
        "1.bias",
        "1.weight",
    ]
    assert sorted(model.state_dict()) == state
    before = {
        name: value.clone() for name, value in model[0].source.state_dict().items()
    }
    model.train().requires_grad_(True)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model(IDS).sum().backward()
    optimizer.step()
    assert not model[0].source.training
    assert all(parameter.grad is None for parameter in model[0].source.parameters())
    assert len(optimizer.state) == 4
    assert all(
        torch.equal(before[name], value)
        for name, value in model[0].source.state_dict().items()
    )
    assert model[0].input_mix.weights.grad.abs().max() > 0


def test_autocast_does_not_change_the_layers(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    elmo = ElmoTokenEmbedder.open(**files)
    elmo.source.unpack()  # autocast ignores packed products
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", False)
    expected = elmo.layers(IDS).layers
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(elmo.layers(IDS).layers, expected)


@pytest.mark.parametrize(
    "clone", [copy.deepcopy, lambda elmo: pickle.loads(pickle.dumps(elmo))]
)
def test_copies_are_independent(files: dict[str, str], clone: Any) -> None:
    elmo = ElmoTokenEmbedder.open(**files, dropout=0.2).eval()
    other = clone(elmo)
    assert torch.equal(other(IDS), elmo(IDS))
    other.to(torch.float64)
    assert elmo.layers(IDS).layers.dtype == torch.float32
    assert other.files == elmo.files


def test_as_a_token_embedder(files: dict[str, str]) -> None:
    embedder = TokenEmbedder.from_params(
        Params({"type": "elmo_tasks", **files, "mix": "last"})
    )
    assert isinstance(embedder, ElmoTokenEmbedder)
    field = BasicTextFieldEmbedder({"elmo": embedder})
    assert field.get_output_dim() == 12
    expected = BiLM.from_files(**files)(IDS).layers[2]
    assert torch.equal(field({"elmo": {"elmo_tokens": IDS}}), expected)
    wrapped = field(
        {"elmo": {"elmo_tokens": IDS[None].expand(2, -1, -1, -1)}}, num_wrapping_dims=1
    )
    torch.testing.assert_close(wrapped[1], expected, atol=1e-5, rtol=0.0)


def test_the_embedded_bilm_is_the_default() -> None:
    elmo = ElmoTokenEmbedder.from_params(Params({}))
    assert elmo.files.weight_file == fixtures_root() / "bilm/weights.hdf5"
    assert elmo.files.name == "bundled"


@pytest.mark.parametrize("changes", [{"at": "output"}, {"l2": 0.1}])
def test_a_token_embedder_rejects_what_nothing_would_use(
    files: dict[str, str], changes: dict[str, Any]
) -> None:
    message = f"token embedder elmo_tasks: {next(iter(changes))}: expected"
    with pytest.raises(InputError, match=message):
        TokenEmbedder.from_params(Params({"type": "elmo_tasks", **files, **changes}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"source": "transformer"},
            "model: expected a folder or the name of a model, got None",
        ),
        (
            {"cache_dir": "x", "state": "carry", "layer_norm": "batch"},
            "state is carry: .*; cache_dir: .*is batch: ",
        ),
        (
            {"wieght_file": "x"},
            "wieght_file: expected a key of ELMo .nearest: weight_file., ",
        ),
        (
            {"weight_file": "absent"},
            "absent: no such file: the biLM's weights .set model.elmo.weight_file; relative ",
        ),
    ],
)
def test_conflicting_values_and_unknown_keys(
    files: dict[str, str], changes: dict[str, Any], message: str
) -> None:
    given = {**files, **changes}
    with pytest.raises(InputError, match=message):
        ElmoTokenEmbedder.open(config_path="model.elmo", **given)
    with pytest.raises(InputError, match=message):
        ElmoTokenEmbedder.from_params(Params(given))


def test_what_is_said_of_a_mix_does_not_change_with_it(files: dict[str, str]) -> None:
    elmo = ElmoTokenEmbedder.open(**files)
    said = elmo.mix_parameters()
    with torch.no_grad():
        elmo.input_mix.gamma.fill_(3.0)
        elmo.input_mix.weights.fill_(3.0).add_(torch.arange(3))
    assert said["elmo_input_gamma"] == 1.0
    assert said["elmo_input_s0"].item() == pytest.approx(1 / 3)
