"""Character ids against the ids written out by hand, and against AllenNLP's."""

from typing import Any

import numpy as np
import pytest
import torch
from allennlp.modules.elmo import batch_to_ids as allennlp_batch_to_ids

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.bilm.characters import ids_to_words, token_to_ids, tokens_to_ids
from tests.elmo.reference import characters_of
from tests.elmo.samples import SENTENCES


@pytest.mark.parametrize(
    ("token", "start", "length"),
    [
        ("ab", [259, 98, 99, 260, 261], 4),
        ("é", [259, 196, 170, 260, 261], 4),
        ("", [259, 260, 261], 2),
        ("<S>", [259, 257, 260, 261], 3),
        ("</S>", [259, 258, 260, 261], 3),
        ("<s>", [259, 61, 116, 63, 260, 261], 5),
        ("\ud800a", [259, 98, 260, 261], 3),
    ],
)
def test_ids_by_hand(token: str, start: list[int], length: int) -> None:
    ids = token_to_ids(token)
    assert ids.shape == (50,) and ids.dtype == np.uint16
    assert ids[: len(start)].tolist() == start
    assert set(ids[length:].tolist()) == {261}


@pytest.mark.parametrize("characters", [47, 48, 49, 200])
def test_tokens_are_truncated_to_48_bytes(characters: int) -> None:
    ids = token_to_ids("q" * characters)
    kept = min(characters, 48)
    assert ids.tolist()[: kept + 2] == [259] + [114] * kept + [260]
    assert ids.tolist()[kept + 2 :] == [261] * (48 - kept)


def test_every_sample_equals_the_reference() -> None:
    tokens = [token for sentence in SENTENCES for token in sentence]
    assert len(tokens) == 26
    expected = np.array([characters_of(token) for token in tokens]) + 1
    assert np.array_equal(tokens_to_ids(tokens), expected)


def test_batch_equals_allennlp() -> None:
    ids = batch_to_ids(SENTENCES)
    assert ids.dtype == torch.long and ids.shape == (7, 7, 50)
    assert torch.equal(ids, allennlp_batch_to_ids(SENTENCES))
    assert batch_to_ids([]).shape == (0, 0, 50)
    assert batch_to_ids([[], []]).shape == (2, 0, 50)


def test_a_string_is_not_a_sentence() -> None:
    with pytest.raises(TypeError, match="got the string 'not tokens': split it into tokens"):
        batch_to_ids(["not tokens"])  # type: ignore[list-item]


@pytest.mark.parametrize("token", [3, None, b"a", ["a"]])
def test_tokens_that_are_not_strings(token: Any) -> None:
    with pytest.raises(TypeError, match="expected a token as a string, got"):
        batch_to_ids([["a", token]])


def test_ids_to_words() -> None:
    words = ["ab", "é", "日" * 15, "", "y" * 47, "y" * 48, "z" * 60, "<S>", "</S>", "<s>"]
    found = ids_to_words(torch.from_numpy(tokens_to_ids(words).astype(np.int64)))
    expected = [None if word in {"y" * 48, "z" * 60, "<S>", "</S>"} else word.encode() for word in words]
    assert found == expected
    assert ids_to_words(torch.zeros(0, 50, dtype=torch.long)) == []
