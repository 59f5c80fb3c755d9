"""Sentiment trees: words, phrases, escapes, depth, and invalid lines."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.errors import InputError
from elmo_tasks.formats.trees import Phrase, parse_tree, read_trees

Nested = tuple[str, "str | list[Nested]"]
WRITTEN = {"a": "a", "(": "-LRB-", "1/2": r"1\/2", "x\xa0y": "x\xa0y", "'s": "'s"}
LEAVES = st.tuples(st.sampled_from("01234"), st.sampled_from(sorted(WRITTEN)))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.tuples(
        st.sampled_from("01234"), st.lists(inner, min_size=1, max_size=3)
    ),
)


def written(tree: Nested) -> str:
    label, inside = tree
    if isinstance(inside, str):
        return f"({label} {WRITTEN[inside]})"
    return f"({label} {' '.join(written(child) for child in inside)})"


def flat(tree: Nested, start: int = 0) -> tuple[list[str], list[Phrase]]:
    """Words and phrases by recursion."""
    label, inside = tree
    if isinstance(inside, str):
        return [inside], [Phrase(label, start, start + 1)]
    words: list[str] = []
    phrases: list[Phrase] = []
    for child in inside:
        more_words, more_phrases = flat(child, start + len(words))
        words, phrases = words + more_words, phrases + more_phrases
    return words, [*phrases, Phrase(label, start, start + len(words))]


@settings(deadline=None, max_examples=60)
@given(tree=TREES)
def test_round_trip(tree: Nested) -> None:
    words, phrases = flat(tree)
    parsed = parse_tree(written(tree))
    assert (list(parsed.words), list(parsed.phrases)) == (words, phrases)
    assert parsed.root.length == len(words)


def test_any_depth() -> None:
    depth = 20_000
    tree = parse_tree("(3 (2 a) " * depth + "(4 b)" + ")" * depth)
    assert tree.words == ("a",) * depth + ("b",)
    assert tree.root == Phrase("3", 0, depth + 1)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("(3 (2 It) (3 works)", "got the end"),
        ("(3 (2 It) works)", "got 'works'"),
        ("(3 (2 It)) (3 works)", r"got '\(3'"),
        ("(5 It)", r"expected a label from 0 to 4 .*, got '\(5'"),
    ],
)
def test_invalid_lines(text: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "train.txt"
    file.write_text(f"(2 fine)\n\n{text}\n")
    with pytest.raises(InputError, match=rf"train\.txt:3: .*{problem}"):
        list(read_trees(file))
