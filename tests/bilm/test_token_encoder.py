"""The token encoder groups words by length."""

import pytest
import torch
from torch import Tensor

from elmo_tasks.bilm import token_encoder as module
from elmo_tasks.bilm.characters import tokens_to_ids
from tests.elmo.samples import random_bilm

WORDS = ["<S>", "</S>", *("y" * length for length in (48, 8, 1, 13, 9, 12, 0, 30, 11, 47, 7, 49))]
"""Of all lengths around the groups' limits, in mixed order."""


def ids(words: list[str]) -> Tensor:
    return torch.from_numpy(tokens_to_ids(words).astype("int64"))


def vectors_and_gradients(encoder: module.TokenEncoder) -> list[Tensor]:
    encoder.zero_grad()
    vectors = encoder(ids(WORDS))
    (vectors * torch.arange(1.0, len(WORDS) + 1)[:, None]).sum().backward()
    return [vectors.detach(), *(parameter.grad.clone() for parameter in encoder.parameters())]


def test_grouping_by_length_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = random_bilm().double().token_encoder
    _, groups = encoder._by_length(ids(WORDS))
    assert [tuple(group.shape) for group in groups] == [(6, 10 + 7), (3, 14 + 7), (5, 50)]
    grouped = vectors_and_gradients(encoder)
    monkeypatch.setattr(encoder, "_by_length", lambda given: (torch.arange(len(given)), [given]))
    torch.testing.assert_close(grouped, vectors_and_gradients(encoder))
    assert all(tensor.any() for tensor in grouped)
