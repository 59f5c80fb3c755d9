"""Batches by length and token budget."""

import pytest
from allennlp.common import Params
from allennlp.data import Instance, Token
from allennlp.data.fields import TextField
from allennlp.data.samplers import BatchSampler

from elmo_tasks.training.data.token_budget import TokenBudgetSampler


def instances(*lengths: int) -> list[Instance]:
    return [
        Instance({"passage": TextField([Token("x")] * length)}) for length in lengths
    ]


def batches(
    lengths: list[int], *, batch_size: int = 2, max_tokens: int | None = None
) -> list[list[int]]:
    sampler = TokenBudgetSampler(
        batch_size=batch_size,
        sorting_key="passage",
        max_tokens=max_tokens,
        shuffle=False,
    )
    made = list(sampler.get_batch_indices(instances(*lengths)))
    assert sampler.get_num_batches(instances(*lengths)) == len(made)
    return made


@pytest.mark.parametrize(
    ("lengths", "keys", "expected"),
    [
        ([5, 1, 4, 1, 3], {}, [[1, 3], [4, 2], [0]]),
        ([], {}, []),
        ([2, 2, 3, 5], {"batch_size": 9, "max_tokens": 9}, [[0, 1, 2], [3]]),
        ([2, 2, 3, 5], {"batch_size": 9, "max_tokens": 8}, [[0, 1], [2], [3]]),
        ([7, 8, 1], {"batch_size": 9, "max_tokens": 5}, [[2], [0], [1]]),
    ],
)
def test_batches(
    lengths: list[int], keys: dict[str, int], expected: list[list[int]]
) -> None:
    assert batches(lengths, **keys) == expected


def test_only_the_order_is_random() -> None:
    config = {
        "type": "elmo_tasks_token_budget",
        "batch_size": 3,
        "sorting_key": "passage",
    }
    sampler = BatchSampler.from_params(Params(config))
    data = instances(*range(1, 40))
    first = list(sampler.get_batch_indices(data))
    second = list(sampler.get_batch_indices(data))
    assert sorted(first) == sorted(second)
    assert first != second
    assert sampler.get_batch_size() == 3
