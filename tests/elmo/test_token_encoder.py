"""The token encoder: short words without the work of long padding, and many words in parts."""

import pytest
import torch
from torch import Tensor

from elmo_tasks.elmo import token_encoder as module
from elmo_tasks.elmo.characters import tokens_to_ids
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
    encoder, seen = random_bilm().double().token_encoder, []
    convolve = encoder._convolve
    monkeypatch.setattr(encoder, "_convolve", lambda part, dtype: (seen.append(part.shape), convolve(part, dtype))[1])
    grouped = vectors_and_gradients(encoder)
    assert [tuple(shape[:2]) for shape in seen] == [(6, 10 + 7), (3, 14 + 7), (5, 50)]
    seen.clear()
    monkeypatch.setattr(encoder, "_by_length", lambda given: (torch.arange(len(given)), [given]))
    together = vectors_and_gradients(encoder)
    assert [tuple(shape[:2]) for shape in seen] == [(14, 50)]
    torch.testing.assert_close(grouped, together)
    assert all(tensor.any() for tensor in grouped)


def test_a_padding_token_has_its_own_vector_beside_words() -> None:
    encoder = random_bilm().token_encoder.requires_grad_(False)
    padded = torch.cat([torch.zeros(1, 50, dtype=torch.long), ids(["a"])])
    torch.testing.assert_close(encoder(padded)[0], encoder(padded[:1])[0])
    assert (encoder(padded)[0] - encoder(padded)[1]).abs().max() > 0.01


def test_no_tokens_are_no_vectors() -> None:
    assert random_bilm().token_encoder(torch.zeros(0, 50, dtype=torch.long)).shape == (0, 6)


def test_bfloat16_stays_near_and_comes_in_float32() -> None:
    encoder = random_bilm().token_encoder.requires_grad_(False)
    exact, low = encoder(ids(WORDS)), encoder(ids(WORDS), precision=torch.bfloat16)
    assert low.dtype == torch.float32
    assert 0.0 < (exact - low).abs().max() < 0.05
    assert torch.cosine_similarity(exact, low).min() > 0.999
