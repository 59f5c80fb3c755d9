"""AllenNLP's ELMo computed by our biLM."""

import logging
from pathlib import Path

import pytest

pytest.importorskip("allennlp_models", reason="tested by make test-models")

import torch
from allennlp.modules.elmo import Elmo, batch_to_ids
from torch import nn

from allennlp_archives.elmo_state import bilm_of, bilms_in, options_of, part_of
from allennlp_archives.fast_elmo import use_fast_elmo
from elmo_tasks.bilm import BiLM
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.errors import InputError
from tests.tiny import bilm_files

BATCHES = [
    [["The", "ferry", "sank", "."], ["Mira"], ["She", "left", "Koros"]],
    [["A", "mill"], ["It", "burned", "."]],  # fewer rows: the third keeps its state
    [["She"], ["left", "."], ["The", "ferry"], ["rose"]],
    [["The", "ferry", "sank", "."], ["Mira"], ["She", "left", "Koros"]],
]


def elmo(folder: Path, **options: object) -> Elmo:
    files = bilm_files(folder)
    return Elmo(files["options_file"], files["weight_file"], 2, **options).eval()


@torch.no_grad()
def vectors(model: Elmo) -> list[torch.Tensor]:
    found = []
    for batch in BATCHES:
        output = model(batch_to_ids(batch))
        found += [*output["elmo_representations"], output["mask"].float()]
    return found


def test_vectors_and_states_are_allennlps(tmp_path: Path) -> None:
    expected = vectors(elmo(tmp_path))
    model = elmo(tmp_path)
    assert use_fast_elmo(nn.ModuleList([model])) == 1
    found = vectors(model)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-5)
    assert (expected[0] - expected[-3]).abs().max() > 1e-3  # states matter


def test_no_gradients_and_no_dropout_is_lost(tmp_path: Path) -> None:
    model = elmo(tmp_path, dropout=0.5)
    use_fast_elmo(nn.ModuleList([model]))
    assert model._dropout.p == 0.5
    names = {name for name, one in model.named_parameters() if one.requires_grad}
    assert names and all(name.startswith("scalar_mix_") for name in names)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"do_layer_norm": True}, "do_layer_norm"),
        ({"vocab_to_cache": ["ferry"]}, "vocab_to_cache"),
        ({"keep_sentence_boundaries": True}, "sentence boundaries"),
    ],
)
def test_what_stays_with_allennlp(
    options: dict[str, object],
    reason: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    expected = vectors(elmo(tmp_path, **options))
    model = elmo(tmp_path, **options)
    with caplog.at_level(logging.WARNING, "allennlp_archives.fast_elmo"):
        assert use_fast_elmo(nn.ModuleList([model])) == 0
    assert reason in caplog.text
    for one, other in zip(vectors(model), expected, strict=True):
        assert torch.equal(one, other)


def test_a_model_without_elmo() -> None:
    with pytest.raises(InputError, match="expected a model with AllenNLP's ELMo"):
        use_fast_elmo(nn.ModuleList([nn.Linear(2, 2)]))


def test_the_weights_in_a_state_are_those_of_the_files(tmp_path: Path) -> None:
    files = bilm_files(tmp_path)
    expected = BiLM.from_files(files["options_file"], files["weight_file"])
    state = nn.ModuleDict({"own": elmo(tmp_path)}).state_dict()
    assert bilms_in(state) == ["own._elmo_lstm."]
    part = part_of(state, "own._elmo_lstm.")
    options = BiLMOptions.from_file(files["options_file"])
    assert options_of(part) == options
    found = bilm_of(part, options)
    assert not found.training
    assert not any(parameter.requires_grad for parameter in found.parameters())
    for name, tensor in expected.state_dict().items():
        torch.testing.assert_close(found.state_dict()[name], tensor, rtol=0, atol=1e-6)


def test_sizes_that_a_state_does_not_tell(tmp_path: Path) -> None:
    state = dict(elmo(tmp_path)._elmo_lstm.state_dict())
    for lacking in ("_token_embedder._char_embedding_weights", "state_projection"):
        part = {name: one for name, one in state.items() if lacking not in name}
        with pytest.raises(
            InputError, match=f"no complete biLM: .*{lacking}.* missing"
        ):
            options_of(part)


def test_a_state_that_lacks_a_weight_or_has_another_size(tmp_path: Path) -> None:
    options = BiLMOptions.from_file(bilm_files(tmp_path)["options_file"])
    state = dict(elmo(tmp_path)._elmo_lstm.state_dict())
    bias = state.pop("_token_embedder._projection.bias")
    with pytest.raises(InputError, match="no complete biLM: 'bias' is missing"):
        bilm_of(state, options)
    state["_token_embedder._projection.bias"] = torch.cat([bias, bias])
    with pytest.raises(InputError, match="does not fit the biLM's options"):
        bilm_of(state, options)
