"""Arguments of several pieces, by hand and against a word-by-word implementation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.srl.arguments import Argument, arguments_from_tags


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("B-A0 I-A0 O B-V", [("A0", ((0, 2),)), ("V", ((3, 4),))]),
        ("B-A1 B-V B-C-A1 I-C-A1", [("A1", ((0, 1), (2, 4))), ("V", ((1, 2),))]),
        ("B-A1 B-C-A1 O B-C-A1", [("A1", ((0, 1), (1, 2), (3, 4)))]),
        ("B-C-A1 O B-C-A1", [("A1", ((0, 1), (2, 3)))]),
        ("B-A1 O B-A1 B-C-A1", [("A1", ((0, 1),)), ("A1", ((2, 3), (3, 4)))]),
        ("B-A0 B-R-A0 B-C-R-A0 B-C-A0", [("A0", ((0, 1), (3, 4))), ("R-A0", ((1, 2), (2, 3)))]),
        ("I-A0 I-A0 I-A1 B-A1", [("A0", ((0, 2),)), ("A1", ((2, 3),)), ("A1", ((3, 4),))]),
        ("O O", []),
    ],
)
def test_by_hand(tags: str, expected: list[tuple[str, tuple[tuple[int, int], ...]]]) -> None:
    assert arguments_from_tags(tags.split()) == expected


LABELS = ("A0", "A1", "C-A0", "C-A1", "R-A0", "C-R-A0", "V", "C-V")
TAGS = st.sampled_from(["O", *(f"{letter}-{label}" for letter in "BI" for label in LABELS)])


def by_words(tags: list[str]) -> list[Argument]:
    """Appends word by word to the pieces of the arguments so far."""
    arguments: list[tuple[str, list[list[int]]]] = []
    current: list[int] | None = None
    for place, tag in enumerate(tags):
        before = tags[place - 1] if place else "O"
        if tag[0] == "I" and before != "O" and before[2:] == tag[2:] and current is not None:
            current[1] = place + 1
        elif tag != "O":
            label = tag[4:] if tag[2:4] == "C-" else tag[2:]
            same = [pieces for name, pieces in arguments if name == label] if tag[2:4] == "C-" else []
            if not same:
                arguments.append((label, []))
                same = [arguments[-1][1]]
            current = [place, place + 1]
            same[-1].append(current)
    return [Argument(label, tuple((start, end) for start, end in pieces)) for label, pieces in arguments]


@given(st.lists(TAGS, max_size=12))
def test_equals_word_by_word(tags: list[str]) -> None:
    assert arguments_from_tags(tags) == by_words(tags)
