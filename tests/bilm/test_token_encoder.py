"""The token encoder: grouping by length, chunks and rounding."""

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


@pytest.mark.parametrize("count", [0, 1, 16, 31, 32, 33, 100])
def test_rows_are_mapped_in_padded_chunks(count: int) -> None:
    sizes, rows = [], torch.arange(2.0 * count).view(count, 2)
    doubled = module._map_rows(lambda chunk: (sizes.append(len(chunk)), 2 * chunk)[1], rows, 32)
    assert torch.equal(doubled, 2 * rows)
    assert all(size in (0, 16, 32) for size in sizes) and sum(sizes) == -(-count // 16) * 16


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_the_sigmoid_rounds_alike_in_each_element(dtype: torch.dtype) -> None:
    """Unlike torch's in float32, which rounds the last elements of a tensor, or of a thread's part, differently."""
    inputs = torch.cat([torch.randn(3000), torch.tensor([-200.0, 200.0])]).to(dtype)
    whole = module._sigmoid_(inputs.clone())
    assert torch.equal(whole, torch.cat([module._sigmoid_(element.clone()) for element in inputs.split(1)]))
    torch.testing.assert_close(whole, torch.sigmoid(inputs))


def test_a_padding_token_has_its_own_vector_beside_words() -> None:
    encoder = random_bilm().token_encoder.requires_grad_(False)
    padded = torch.cat([torch.zeros(1, 50, dtype=torch.long), ids(["a"])])
    torch.testing.assert_close(encoder(padded)[0], encoder(padded[:1])[0])
    assert (encoder(padded)[0] - encoder(padded)[1]).abs().max() > 0.01


def test_bfloat16_stays_near_and_comes_in_float32() -> None:
    encoder = random_bilm().token_encoder.requires_grad_(False)
    exact, low = encoder(ids(WORDS)), encoder(ids(WORDS), precision=torch.bfloat16)
    assert low.dtype == torch.float32
    assert 0.0 < (exact - low).abs().max() < 0.05
    assert torch.cosine_similarity(exact, low).min() > 0.999
