"""The Viterbi search against enumeration of all legal sequences."""

from itertools import product

import pytest
import torch

from elmo_tasks.srl.decoding import BioViterbi

TAGS = ["B-A0", "O", "I-A0", "I-C-A0", "B-C-A0", "I-A9"]


def is_legal(tags: list[str]) -> bool:
    pairs = zip(["O", *tags], tags, strict=False)
    return all(tag[0] != "I" or (before != "O" and before[2:] == tag[2:]) for before, tag in pairs)


def best(scores: list[list[float]]) -> list[int]:
    everything = product(range(len(TAGS)), repeat=len(scores))
    legal = [path for path in everything if is_legal([TAGS[tag] for tag in path])]
    return list(max(legal, key=lambda path: sum(scores[place][tag] for place, tag in enumerate(path))))


@pytest.mark.parametrize("scale", [0.3, 30.0])
def test_equals_enumeration_for_rows_of_any_length(scale: float) -> None:
    torch.manual_seed(4)
    scores, lengths = torch.randn(30, 5, len(TAGS)) * scale, torch.arange(30) % 5 + 1
    found = BioViterbi(TAGS)(scores, torch.arange(5)[None] < lengths[:, None])
    for row, length in enumerate(lengths.tolist()):
        assert found[row] == best(scores[row, :length].tolist())
    assert any(path != scores[row, : len(path)].argmax(1).tolist() for row, path in enumerate(found))


def test_what_stands_in_the_padding_changes_nothing() -> None:
    torch.manual_seed(4)
    scores, mask = torch.randn(2, 4, len(TAGS)), torch.tensor([[True] * 4, [True, True, False, False]])
    found = BioViterbi(TAGS)(scores, mask)
    scores[1, 2:] = torch.nan
    assert BioViterbi(TAGS)(scores, mask) == found
