"""Blocks of layers against one sentence at a time."""

import pytest
import torch

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes.layers import MAX_SENTENCE, encode_blocks, to_half
from tests.elmo.samples import random_bilm
from tests.probes.samples import known

SENTENCES = [
    ["a", "b", "c", "d", "e", "f", "g"],
    ["one"],
    ["the", "mill", "by", "the", "sea"],
    ["x", "y"],
    ["long"] * 12,
    ["z"],
]


@pytest.fixture(scope="module")
def bilm() -> Layers:
    return Layers(random_bilm())


def test_all_layers_in_the_order_of_the_text(bilm: Layers) -> None:
    sizes = {"block_tokens": 13, "batch_tokens": 8}
    found = list(encode_blocks(bilm, iter(SENTENCES), **sizes))
    blocks = [SENTENCES[:3], SENTENCES[3:5], SENTENCES[5:]]
    for block, items in zip(found, blocks, strict=True):
        ends = list(block.starts[1:]) + [block.layers.shape[1]]
        for words, start, end in zip(items, block.starts, ends, strict=True):
            alone = bilm(batch_to_ids([words])).layers[:, 0]  # [L+1, T, D]
            torch.testing.assert_close(block.layers[:, start:end], alone)


def test_long_sentences_are_rejected() -> None:
    """One of 5,000 words is not."""

    def nothing(words: list[str], t: int) -> list[list[float]]:
        return [[0.0]]

    frozen = known(nothing)
    longest = ["a", "b"] + ["c"] * (MAX_SENTENCE - 2)
    (block,) = encode_blocks(frozen, [longest])
    assert block.layers.shape[1] == MAX_SENTENCE == 5_000
    with pytest.raises(
        InputError, match="at most 5,000 tokens, got one of 5,001: a b c c c c c c "
    ):
        list(encode_blocks(frozen, [longest, longest + ["c"]]))


def test_values_outside_float16_are_rejected() -> None:
    for value in (7e4, float("nan")):
        with pytest.raises(InputError, match="outside the range of float16"):
            to_half(torch.tensor([[1.0, value]]))
