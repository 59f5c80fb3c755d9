"""Character ids: what is no token, and no tokens at all."""

from typing import Any

import numpy as np
import pytest

from elmo_tasks.bilm.characters import (
    MAX_CHARACTERS,
    batch_to_ids,
    token_to_ids,
    tokens_to_ids,
)


@pytest.mark.parametrize("token", [None, 5, b"bytes", ["a"]])
def test_a_token_is_a_string(token: Any) -> None:
    with pytest.raises(TypeError, match="expected a token as a string, got"):
        token_to_ids(token)


def test_a_sentence_is_a_list_of_tokens() -> None:
    with pytest.raises(TypeError, match="got the string 'She left': split it"):
        batch_to_ids([["a"], "She left"])  # type: ignore[list-item]


def test_no_tokens() -> None:
    found = tokens_to_ids([])
    assert found.shape == (0, MAX_CHARACTERS) and found.dtype == np.uint16
    assert batch_to_ids([]).shape[0] == 0
    assert batch_to_ids([[], ["a"]])[0].tolist() == [[0] * MAX_CHARACTERS]
