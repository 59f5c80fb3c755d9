"""Arguments of several pieces, against the rule of srl-eval.pl written out as slowly as it can be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.srl.arguments import Argument, arguments_from_tags


def pieces(tags: str) -> list[tuple[str, list[tuple[int, int]]]]:
    return [(label, list(found)) for label, found in arguments_from_tags(tags.split())]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("B-A0 I-A0 O B-V", [("A0", [(0, 2)]), ("V", [(3, 4)])]),
        ("B-A1 B-V B-C-A1 I-C-A1", [("A1", [(0, 1), (2, 4)]), ("V", [(1, 2)])]),
        ("B-A1 B-C-A1 O B-C-A1", [("A1", [(0, 1), (1, 2), (3, 4)])]),
        ("B-C-A1 O B-C-A1", [("A1", [(0, 1), (2, 3)])]),
        ("B-C-A1 O B-A1", [("A1", [(0, 1)]), ("A1", [(2, 3)])]),
        ("B-A1 O B-A1 B-C-A1", [("A1", [(0, 1)]), ("A1", [(2, 3), (3, 4)])]),
        ("B-A0 B-A1 B-C-A0", [("A0", [(0, 1), (2, 3)]), ("A1", [(1, 2)])]),
        ("B-V O B-C-V", [("V", [(0, 1), (2, 3)])]),
        ("B-C-V", [("V", [(0, 1)])]),
        ("B-A0 B-R-A0 B-C-R-A0 B-C-A0", [("A0", [(0, 1), (3, 4)]), ("R-A0", [(1, 2), (2, 3)])]),
        ("I-A0 I-A0 I-A1 B-A1", [("A0", [(0, 2)]), ("A1", [(2, 3)]), ("A1", [(3, 4)])]),
        ("B-C-A1-DSP", [("A1-DSP", [(0, 1)])]),
        ("O O", []),
    ],
)
def test_by_hand(tags: str, expected: list[tuple[str, list[tuple[int, int]]]]) -> None:
    assert pieces(tags) == expected


LABELS = ("A0", "A1", "C-A0", "C-A1", "R-A0", "C-R-A0", "V", "C-V")
TAGS = st.sampled_from(["O", *(f"{letter}-{label}" for letter in "BI" for label in LABELS)])


def slow(tags: list[str]) -> list[Argument]:
    """Word by word: every piece gets the number of its argument, then pieces of one number are gathered."""
    owner: list[tuple[int, str] | None] = []
    last: dict[str, int] = {}
    numbers = 0
    for place, tag in enumerate(tags):
        if tag == "O":
            owner.append(None)
            continue
        letter, full = tag[0], tag[2:]
        before = tags[place - 1] if place else "O"
        if letter == "I" and before != "O" and before[2:] == full:
            owner.append(owner[-1])
            continue
        label = full[2:] if full[:2] == "C-" else full
        if full[:2] != "C-" or label not in last:
            numbers += 1
            last[label] = numbers
        owner.append((last[label], label))
    found = []
    for number, label in sorted({one for one in owner if one}):
        places = [place for place, one in enumerate(owner) if one == (number, label)]
        starts = [p for p in places if tags[p][0] == "B" or p - 1 not in places or tags[p - 1][2:] != tags[p][2:]]
        ends = [*starts[1:], len(tags)]
        cut = [[p for p in places if start <= p < end] for start, end in zip(starts, ends, strict=True)]
        found.append(Argument(label, tuple((piece[0], piece[-1] + 1) for piece in cut)))
    return found


@given(st.lists(TAGS, max_size=12))
def test_equals_the_rule_word_by_word(tags: list[str]) -> None:
    assert sorted(arguments_from_tags(tags)) == sorted(slow(tags))
