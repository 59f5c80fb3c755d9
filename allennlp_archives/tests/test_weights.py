"""Constants that older versions of transformers have saved with the weights."""

import pytest

pytest.importorskip("allennlp_models", reason="tested by make test-models")

import torch

from allennlp_archives.weights import without_constants

POSITIONS = torch.arange(8)[None]
MASK = torch.ones(1, 1, 4, 4).tril()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model.embeddings.position_ids", POSITIONS),
        ("position_ids", POSITIONS),
        ("bert.embeddings.token_type_ids", torch.zeros(1, 8, dtype=torch.long)),
        ("h.0.attn.bias", MASK.bool()),
        ("h.0.attn.bias", MASK.byte()),
        ("h.0.attn.masked_bias", torch.tensor(-1e4)),
    ],
)
def test_constants_are_left_out(name: str, value: torch.Tensor) -> None:
    weight = torch.ones(2)
    assert without_constants({name: value, "weight": weight}) == {"weight": weight}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model.embeddings.position_ids", POSITIONS + 1),
        ("model.embeddings.position_ids", POSITIONS.float()),
        ("other_position_ids", POSITIONS),
        ("bert.embeddings.token_type_ids", torch.ones(1, 8, dtype=torch.long)),
        ("h.0.attn.bias", torch.ones(4)),
        ("h.0.attn.bias", torch.ones(1, 1, 4, 4)),
        ("h.0.attn.masked_bias", torch.tensor(-1e9)),
        ("model.embeddings.position_ids", torch.arange(1).expand(1, 2**40)),
    ],
)
def test_everything_else_stays(name: str, value: torch.Tensor) -> None:
    assert set(without_constants({name: value})) == {name}
