"""`Layers` of a source of one's own: its names, its device and its states."""

import pytest
import torch
from torch import Tensor, nn

from elmo_tasks.bilm.bilm import LayerOutput
from elmo_tasks.bilm.characters import batch_to_ids
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.sources.types import register_source
from elmo_tasks.errors import InputError

IDS = batch_to_ids([["She", "left"], ["Why", "?", "!"]])


class Lengths(nn.Module):
    """Two layers with the number of characters of each word, and no tensor."""

    n_layers = 2
    output_dim = 1
    dtype = torch.float32
    precision = "float32"

    def forward(self, ids: Tensor) -> LayerOutput:
        lengths = (ids > 0).sum(2)[None, :, :, None].float()
        return LayerOutput(lengths.repeat(2, 1, 1, 1), (ids > 0).any(2))


def test_what_a_source_without_files_and_tensors_is_called() -> None:
    layers = Layers(Lengths())
    assert layers.label == layers.name == "Lengths"
    assert layers.device == torch.device("cpu")
    with pytest.raises(
        InputError,
        match="expected a source that was opened from files .use Elmo.from_files.",
    ):
        layers.opened_files()


def test_other_sources_keep_their_states_themselves() -> None:
    layers = Layers(Lengths())
    output, states = layers.carry(IDS, {})
    assert states == {}
    assert torch.equal(output.layers, layers(IDS).layers)
    assert torch.equal(output.mask, layers(IDS).mask)


def test_the_name_of_a_source_is_new() -> None:
    with pytest.raises(InputError, match="layer source bilm: expected a new name"):
        register_source("bilm", files={"model": "a folder"})
