"""Types met lately are not encoded again, whatever the threads; nothing is kept beyond a change or the capacity."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from torch import Tensor

from elmo_tasks.elmo import BiLm, batch_to_ids
from elmo_tasks.elmo import bilm as bilm_module
from elmo_tasks.elmo.type_cache import TypeCache, is_alike_in_any_company
from tests.elmo.samples import SENTENCES, random_bilm, write_bilm

COMMON = {"filters": ((1, 32), (7, 480)), "character_dim": 16, "dim": 64, "projection_dim": 160}
"""Widths whose products are computed in one order whatever the number of rows."""


class Encoder:
    """Gives each type its number, and remembers which it was asked for."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def __call__(self, ids: Tensor) -> Tensor:
        self.asked.append(ids[:, 0].tolist())
        return ids[:, :1].float() * torch.tensor([1.0, 10.0])


def types(*numbers: int) -> Tensor:
    return torch.tensor(numbers)[:, None].expand(-1, 50)


def test_only_new_types_are_encoded() -> None:
    cache, encode = TypeCache(), Encoder()
    for numbers in ((1, 2), (2, 3, 1), (3,)):
        vectors = cache.vectors(types(*numbers), encode)
        assert vectors.tolist() == [[n, 10.0 * n] for n in numbers]
    assert encode.asked == [[1, 2], [3, 3]]


def test_what_is_met_again_outlives_what_is_not() -> None:
    cache, encode = TypeCache(capacity=4), Encoder()
    for number in (1, 2, 3, 1, 4):
        cache.vectors(types(number), encode)
    # Young and old: {1 2} {}, {3} {1 2}, {3 1} {1 2}, {4} {3 1}.
    assert len(cache) == 3
    assert cache.vectors(types(1, 3, 4), encode)[:, 0].tolist() == [1, 3, 4]
    assert encode.asked == [[1, 1], [2, 2], [3, 3], [4, 4]]
    assert cache.vectors(types(2), encode)[:, 0].tolist() == [2]
    assert encode.asked[4:] == [[2, 2]]


def test_it_stays_within_its_capacity() -> None:
    cache, encode = TypeCache(capacity=8), Encoder()
    for start in range(1, 200, 3):
        cache.vectors(types(start, start + 1, start + 2), encode)
        assert len(cache) <= 8
    vectors = cache.vectors(types(*range(1, 10)), encode)  # more than fit
    assert vectors[:, 0].tolist() == list(range(1, 10)) and len(cache) <= 8


def test_copies_begin_empty() -> None:
    cache = TypeCache(capacity=6)
    cache.vectors(types(1), Encoder())
    for other in (copy.deepcopy(cache), pickle.loads(pickle.dumps(cache))):
        assert (other.capacity, len(other), len(cache)) == (6, 0, 1)


def test_what_is_given_is_no_part_of_the_cache() -> None:
    cache, encode = TypeCache(), Encoder()
    for _ in range(3):
        vectors = cache.vectors(types(1), encode)
        assert vectors.tolist() == [[1.0, 10.0]]
        vectors.zero_()


def test_threads_do_not_mix_types_up() -> None:
    cache, encode = TypeCache(capacity=40), Encoder()

    def check(seed: int) -> bool:
        generator = torch.Generator().manual_seed(seed)
        for _ in range(200):
            numbers = torch.randperm(100, generator=generator)[:15]
            if not torch.equal(cache.vectors(types(*numbers.tolist()), encode)[:, 0], numbers.float()):
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(check, range(8)))


def test_what_began_in_inference_mode_goes_on_outside() -> None:
    cache, encode = TypeCache(8), Encoder()
    with torch.inference_mode():
        cache.vectors(types(1, 2), encode)
    assert cache.vectors(types(1, 3), encode)[:, 0].tolist() == [1.0, 3.0]
    assert encode.asked[1] == [3, 3]


def test_what_depends_on_its_company_is_found() -> None:
    assert not is_alike_in_any_company(lambda ids: ids[:, :6].float() / len(ids))


@pytest.fixture
def frozen(tmp_path: Path) -> BiLm:
    return BiLm.from_files(*write_bilm(tmp_path, **COMMON))


def encoded(bilm: BiLm, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many types the token encoder is asked for, call by call."""
    counts: list[int] = []
    encode = bilm.token_encoder.forward
    monkeypatch.setattr(
        bilm.token_encoder, "forward", lambda ids, **options: (counts.append(len(ids)), encode(ids, **options))[1]
    )
    return counts


def test_a_frozen_biLM_encodes_a_type_once(frozen: BiLm, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = encoded(frozen, monkeypatch)
    first = frozen(batch_to_ids(SENTENCES)).layers
    assert torch.equal(frozen(batch_to_ids(SENTENCES)).layers, first)
    frozen(batch_to_ids([["one", "new"]]))
    types = len({word for sentence in SENTENCES for word in sentence})  # the boundaries are among them
    assert counts[-2:] == [types, 2]  # one new type, and itself again


def test_vectors_do_not_depend_on_what_is_kept() -> None:
    """Bit for bit, which exact resumption needs: at the embedded biLM's size, types alone, in pairs, in crowds."""
    encode = random_bilm(**COMMON).requires_grad_(False).token_encoder
    assert is_alike_in_any_company(encode)
    words = [f"{number}" + "y" * (number % 13) for number in range(150)]
    ids = batch_to_ids([words])[0]
    wanted = TypeCache().vectors(ids, encode)
    cache, start = TypeCache(), 0
    for size in (1, 2, 3, 7, 13, 31, 64, 29):
        part = ids[: start + size]
        assert torch.equal(cache.vectors(part, encode), wanted[: start + size])
        start += size
    assert start == 150


def test_widths_that_round_by_company_are_not_kept(frozen: BiLm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bilm_module, "is_alike_in_any_company", lambda encode: False)
    counts = encoded(frozen, monkeypatch)
    for _ in range(2):
        frozen(batch_to_ids([["one", "two"]]))
    assert counts == [4, 4]


def test_ids_out_of_range_are_an_error_whatever_is_kept(frozen: BiLm) -> None:
    ids = batch_to_ids([["one", "two"]])
    frozen(ids)
    with pytest.raises(IndexError):
        frozen(ids + 2**16 * ids.gt(0))


def test_changed_weights_are_noticed(frozen: BiLm, monkeypatch: pytest.MonkeyPatch) -> None:
    before = frozen(batch_to_ids([["a"]])).layers
    frozen.token_encoder.projection.bias.add_(1.0)
    assert (frozen(batch_to_ids([["a"]])).layers[0] - before[0]).sub(1.0).abs().max() < 1e-5
    frozen.load_state_dict(random_bilm(seed=4, **COMMON).state_dict())
    fresh = random_bilm(seed=4, **COMMON).requires_grad_(False)
    torch.testing.assert_close(frozen(batch_to_ids([["a"]])).layers, fresh(batch_to_ids([["a"]])).layers)


def test_a_biLM_that_learns_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    bilm = random_bilm()
    counts = encoded(bilm, monkeypatch)
    for _ in range(2):
        bilm(batch_to_ids([["a"]]))
    with torch.no_grad():
        bilm(batch_to_ids([["a"]]))
    assert counts == [3, 3, 3]
