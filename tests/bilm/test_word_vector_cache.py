"""
Word vectors: their cache, their independence of the batch, and grouping by length.
"""

import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.bilm.packed_linear import Linear
from elmo_tasks.bilm.token_encoder import PROJECTED_AT_ONCE, PackableLinear
from tests.elmo.samples import SENTENCES, random_bilm, write_bilm

EMBEDDED = {
    "filters": ((1, 32), (7, 480)),
    "character_dim": 16,
    "dim": 64,
    "projection_dim": 160,
}
ODD = {"filters": ((1, 3), (2, 38)), "character_dim": 5, "dim": 7, "projection_dim": 9}


class Encoder:
    """Maps each word to its number, and records the words of each call."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []

    def __call__(self, ids: Tensor) -> Tensor:
        self.calls.append(ids[:, 0].tolist())
        return ids[:, :1].float() * torch.tensor([1.0, 10.0])


def words(*numbers: int) -> Tensor:
    return torch.tensor(numbers)[:, None].expand(-1, 50)


@pytest.mark.parametrize("precision", [None, torch.bfloat16])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("sizes", [EMBEDDED, ODD], ids=["embedded", "odd"])
def test_a_vector_does_not_depend_on_the_batch(
    sizes: dict[str, Any], packed: bool, precision: Any
) -> None:
    """
    Bit for bit, at any width: exact resumption needs it, for a resumed run starts with
    an empty cache.
    """
    bilm = random_bilm(**sizes).requires_grad_(False)
    bilm._precision = "bfloat16" if precision else "float32"
    if packed:
        bilm.pack()
    encoder = bilm.token_encoder
    assert encoder.is_batch_invariant(precision=precision)
    sentence = [f"{number}" + "y" * (number % 15) for number in range(300)]
    ids = batch_to_ids([sentence])[0]
    expected = encoder(ids, precision=precision)
    generator = torch.Generator().manual_seed(1)
    for size in (1, 2, 7, 16, 17, 31, 64, 100, 200):
        chosen = torch.randperm(len(ids), generator=generator)[:size]
        found = encoder(ids[chosen], precision=precision)
        assert torch.equal(found, expected[chosen]), size


class LastRowDiffers(PackableLinear):
    """
    A product whose last row is rounded in another way if there are as many rows as in
    the largest chunk.
    """

    def linear(self, *arguments: Any, **named: Any) -> Linear:
        product = super().linear(*arguments, **named)

        def other(rows: Tensor) -> Tensor:
            is_last = torch.arange(len(rows)) == PROJECTED_AT_ONCE - 1
            return product(rows) + 1e-6 * is_last[:, None]

        return other


def test_a_product_that_depends_on_the_row_is_detected() -> None:
    encoder = random_bilm(**EMBEDDED).requires_grad_(False).token_encoder
    assert encoder.is_batch_invariant()
    weights = encoder.projection.state_dict()
    encoder.projection = LastRowDiffers(512, EMBEDDED["projection_dim"])
    encoder.projection.load_state_dict(weights)
    assert not encoder.requires_grad_(False).is_batch_invariant()


@pytest.fixture
def frozen(tmp_path: Path) -> BiLM:
    bilm = BiLM.from_files(*write_bilm(tmp_path, **EMBEDDED), packed=True)
    return bilm.cache_word_vectors()


def encoded(bilm: BiLM) -> list[int]:
    """How many words the token encoder is called with, call by call."""
    counts: list[int] = []

    def count(module: Any, inputs: Any) -> None:
        counts.append(len(inputs[0]))

    bilm.token_encoder.register_forward_pre_hook(count)
    return counts


def test_running_text_encodes_a_word_once(frozen: BiLM) -> None:
    counts = encoded(frozen)
    with torch.inference_mode():
        first = frozen(batch_to_ids(SENTENCES)).layers
    again = frozen(batch_to_ids(SENTENCES)).layers
    assert torch.equal(again, first) and not again.is_inference()
    frozen(batch_to_ids([["one", "new"]]))
    distinct = set().union(*SENTENCES)  # <S> and </S> are among them
    assert counts[:2] == [len(distinct), 1]


def plain(bilm: BiLM, ids: Tensor) -> Tensor:
    """The layers without a cache."""
    other = BiLM(bilm.options).eval().requires_grad_(False)
    other.load_state_dict(bilm.state_dict())
    return other(ids).layers


@pytest.mark.parametrize("packed", [False, True])
def test_other_weights_clear_the_cache(frozen: BiLM, packed: bool) -> None:
    bilm, ids = frozen if packed else frozen.unpack(), batch_to_ids([["a"]])
    before = bilm(ids).layers
    bilm.load_state_dict(random_bilm(seed=4, **EMBEDDED).state_dict())
    found = bilm(ids).layers
    assert not torch.equal(found[0], before[0])
    torch.testing.assert_close(found, plain(bilm, ids))


def test_a_conversion_clears_the_cache(frozen: BiLM) -> None:
    ids = batch_to_ids([["a"]])
    frozen(ids)
    found = frozen.double()(ids).layers
    assert found.dtype == torch.float64
    alone = BiLM(frozen.options).double().eval().requires_grad_(False)
    alone.load_state_dict(frozen.state_dict())
    torch.testing.assert_close(found, alone(ids).layers)
    counts = encoded(frozen)
    frozen(ids)
    frozen(ids)
    assert sum(counts) <= 3  # <S>, </S> and the word at most


@pytest.mark.parametrize("change", [BiLM.pack, BiLM.unpack])
def test_packing_clears_the_cache(change: Any, frozen: BiLM) -> None:
    ids = batch_to_ids([["a"]])
    frozen(ids)
    counts = encoded(change(frozen))
    frozen(ids)
    assert counts == [3]  # <S>, </S> and the word


def test_a_pickle_has_an_empty_cache(frozen: BiLM) -> None:
    ids = batch_to_ids(SENTENCES)
    expected = frozen(ids).layers
    again = pickle.loads(pickle.dumps(frozen))
    counts = encoded(again)
    assert torch.equal(again(ids).layers, expected) and len(counts) == 1
    assert torch.equal(again(ids).layers, expected) and len(counts) == 1
