"""`Elmo` on streams, as a module that gives tensors, and its device."""

import weakref
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.elmo import Elmo, devices
from elmo_tasks.elmo.scalar_mix import ScalarMix
from elmo_tasks.errors import InputError
from tests.elmo.samples import SENTENCES, write_bilm

WORDS = [sentence for sentence in SENTENCES if "\ud800surrogate" not in sentence]


@pytest.fixture(scope="module")
def elmo(tmp_path_factory: pytest.TempPathFactory) -> Elmo:
    files = write_bilm(tmp_path_factory.mktemp("bilm"))
    return Elmo.from_files(*files, device="cpu", batch_size=4, max_tokens=64)


def endless(read: list[int]) -> Iterator[list[str]]:
    """Sentences of 1 to 9 words; notes how many were read."""
    for number in count():
        read.append(number)
        yield [f"w{number % 7}"] * (1 + number % 9)


def test_a_stream_without_an_end(elmo: Elmo) -> None:
    """
    In order, never far ahead, and no array is kept that was given: a block has the
    sentences of 4 batches of 64 tokens.
    """
    read: list[int] = []
    stream = elmo.iter_embed(endless(read))
    assert read == []
    ahead = []
    given = []
    for number, array in enumerate(islice(stream, 300)):
        assert array.shape == (3, 1 + number % 9, 12)
        ahead.append(len(read) - number)
        given.append(weakref.ref(array))
        kept = [one for one in given if one() is not None]
        assert len(kept) <= 60
    assert min(ahead) >= 1 and max(ahead) <= 60


def test_a_stream_ends(elmo: Elmo) -> None:
    assert list(elmo.iter_embed([])) == []
    sentences = WORDS * 20
    found = list(elmo.iter_embed(iter(sentences), layers="top", tensors=True))
    expected = elmo.embed(sentences, layers="top")
    for one, other in zip(found, expected, strict=True):
        assert isinstance(one, torch.Tensor) and one.dtype == torch.float32
        assert np.allclose(one, other, atol=1e-6)


def test_a_stream_that_is_none(elmo: Elmo) -> None:
    """Arguments are checked at once, sentences when they are read."""
    with pytest.raises(InputError, match="layers: expected all, top"):
        elmo.iter_embed(WORDS, layers="last")
    with pytest.raises(InputError, match="expected a list of sentences, got 'one s"):
        elmo.iter_embed("one string")
    with pytest.raises(InputError, match="tokenizer: expected whitespace"):
        elmo.iter_embed(["a"], tokenizer="x")
    stream = elmo.iter_embed(["a b", 5])  # type: ignore[list-item]
    with pytest.raises(InputError, match="sentence 2: expected a string or a list"):
        next(stream)


@pytest.mark.parametrize("layers", ["all", "top", "average", 0])
def test_a_call_gives_a_padded_batch(elmo: Elmo, layers: Any) -> None:
    vectors, mask = elmo(WORDS, layers=layers)
    ids = batch_to_ids(WORDS, longest=256)
    from_ids = elmo(ids, layers=layers)
    assert torch.equal(from_ids.vectors, vectors) and torch.equal(from_ids.mask, mask)
    assert mask.sum(1).tolist() == [len(one) for one in WORDS]
    expected = elmo.embed(WORDS, layers=layers)
    for place, array in enumerate(expected):
        length = array.shape[-2]
        found = vectors[..., place, :length, :]
        assert np.allclose(found, array, atol=1e-6)
        assert not vectors[..., place, length:, :].any()
    assert elmo([], layers=layers).vectors.shape[-3:] == (0, 0, 12)
    assert elmo(["a b"], layers=layers).mask.shape == (1, 2)


def test_a_mix_of_a_call_learns_and_the_bilm_does_not(elmo: Elmo) -> None:
    output = elmo(WORDS)
    assert not output.vectors.requires_grad
    mix = ScalarMix(elmo.n_layers)
    mix(*output).sum().backward()
    gradients = [parameter.grad for parameter in mix.parameters()]
    assert len(gradients) == 2
    for gradient in gradients:
        assert gradient is not None and gradient.abs().sum() > 0


def test_allennlp_knows_the_cpu_and_gpus_of_cuda_by_numbers() -> None:
    assert devices.cuda_number(torch.device("cpu")) == -1
    assert devices.cuda_number(torch.device("cuda:1")) == 1
    with pytest.raises(InputError, match="expected the CPU or a GPU of CUDA, got mps"):
        devices.cuda_number(torch.device("mps"))


def test_a_device_that_is_named_is_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    files = write_bilm(tmp_path)
    for device in ("cpu", torch.device("cpu")):
        elmo = Elmo.from_files(*files, device=device)
        assert elmo.device == torch.device("cpu")
        assert Elmo.from_pretrained(tmp_path, device=device).device.type == "cpu"
