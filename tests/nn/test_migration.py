"""
What stands in the place of AllenNLP's `elmo_token_embedder` gives its vectors and its
penalty.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.modules import TokenEmbedder
from allennlp.nn import InitializerApplicator
from allennlp.nn.regularizers import RegularizerApplicator
from torch import nn

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.errors import InputError
from tests.tiny import bilm_files

IDS = batch_to_ids([["She", "heard", "the", "play", "."], ["It", "ended"]])
WEIGHTS = [0.3, 1.2, -0.4]


def embedder(**keys: Any) -> TokenEmbedder:
    return TokenEmbedder.from_params(Params(keys), vocab=Vocabulary()).eval()


def with_weights(module: nn.Module, regex: str, values: list[float]) -> None:
    """Initializes as a config does."""
    initializer = {"type": "elmo_tasks_values", "values": values}
    options = Params({"regexes": [[regex, initializer]]})
    InitializerApplicator.from_params(options)(module)


def test_projection_and_fixed_weights(tmp_path: Path) -> None:
    files = bilm_files(tmp_path)
    theirs = embedder(
        type="elmo_token_embedder",
        projection_dim=4,
        scalar_mix_parameters=WEIGHTS,
        **files,
    )
    elmo = {"type": "elmo_tasks", "gamma": False, **files}
    ours = embedder(type="elmo_tasks_projected", projection_dim=4, embedder=elmo)
    with_weights(ours, "input_mix.weights", WEIGHTS)
    ours.projection.load_state_dict(theirs._projection.state_dict())
    assert ours.get_output_dim() == theirs.get_output_dim() == 4
    mask = (IDS > 0).any(2)
    torch.testing.assert_close(ours(IDS)[mask], theirs(IDS)[mask])


def test_one_layer(tmp_path: Path) -> None:
    files = bilm_files(tmp_path)
    chosen = [-9e10, 1, -9e10]
    theirs = embedder(type="elmo_token_embedder", scalar_mix_parameters=chosen, **files)
    ours = embedder(type="elmo_tasks", mix="layer:1", gamma=False, **files)
    mask = (IDS > 0).any(2)
    torch.testing.assert_close(ours(IDS)[mask], theirs(IDS)[mask])


def test_the_penalty_of_the_layer_weights(tmp_path: Path) -> None:
    files = bilm_files(tmp_path)
    ours = embedder(type="elmo_tasks", **files)
    with_weights(ours, "input_mix.weights", WEIGHTS)
    theirs = embedder(type="elmo_token_embedder", **files)
    mix = theirs._elmo.scalar_mix_0
    with torch.no_grad():
        for scalar, weight in zip(mix.scalar_parameters, WEIGHTS, strict=True):
            scalar.fill_(weight)
    penalties = []
    for module, regex in ((theirs, "scalar_parameters"), (ours, "input_mix.weights")):
        options = Params({"regexes": [[regex, {"type": "l2", "alpha": 0.1}]]})
        penalties.append(RegularizerApplicator.from_params(options)(module))
    assert penalties[1].item() == pytest.approx(penalties[0].item())
    assert penalties[1].item() == pytest.approx(0.1 * sum(w * w for w in WEIGHTS))


def test_values_of_another_shape(tmp_path: Path) -> None:
    ours = embedder(type="elmo_tasks", **bilm_files(tmp_path))
    with pytest.raises(
        InputError, match=r"input_mix.weights: expected .* shape \[3\], got \[2\]"
    ):
        with_weights(ours, "weights", [1.0, 2.0])
