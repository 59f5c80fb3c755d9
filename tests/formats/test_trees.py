"""Sentiment trees: words, phrases, escapes, depth, and invalid lines."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.trees import Phrase, parse_tree, read_trees, unescape

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


def test_invalid_lines(tmp_path: Path) -> None:
    file = tmp_path / "train.txt"
    file.write_text("(2 fine)\n\n(3 (2 It) works)\n")
    with pytest.raises(InputError, match=r"train\.txt:3: .*got 'works'"):
        list(read_trees(file))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected a closing bracket, got the end of the line"),
        ("It", "expected a node with a word or with nodes, got 'It'"),
        (")", r"got '\)'"),
        ("()", r"expected a label from 0 to 4 .*, got '\('"),
        ("(3)", r"expected a node with a word or with nodes, got '\)'"),
        ("(3 (2 a) ())", r"expected a label from 0 to 4 .*, got '\('"),
        ("(3 a b)", "expected a node with a word or with nodes, got 'b'"),
        ("(3 a (2 b))", r"in a node of one tree, got '\(2'"),
        ("(3 a))", r"expected a node .*, got '\)'"),
        ("(3 a) b", "expected a node .*, got 'b'"),
        ("(3 (2 It) (3 works)", "got the end"),
        ("(3 (2 It) works)", "got 'works'"),
        ("(10 a)", r"expected a label from 0 to 4 .*, got '\(10'"),
        ("(-1 a)", r"expected a label from 0 to 4"),
    ],
)
def test_what_is_no_tree(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        parse_tree(text)
    assert caught.value.line is None
    if text:
        assert str(caught.value).endswith("(a tree looks like (3 (2 It) (3 works)))")


def test_blanks_between_the_parts_of_a_tree() -> None:
    tree = parse_tree(" ( 3\t( 2   It )(4\tworks) ) ", file="x", line=7)
    assert tree.words == ("It", "works") and tree.line == 7
    assert tree.phrases == (Phrase("2", 0, 1), Phrase("4", 1, 2), Phrase("3", 0, 2))
    assert (tree.root, tree.root.length) == (tree.phrases[-1], 2)
    assert parse_tree("(3 a)").line is None


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("-LRB-", "("),
        ("-RRB-", ")"),
        ("-LSB-", "["),
        ("-RSB-", "]"),
        ("-LCB-", "{"),
        ("-RCB-", "}"),
        (r"1\/2\/3", "1/2/3"),
        (r"\*\*", "**"),
        ("-lrb-", "-lrb-"),
        ("-LRB-x", "-LRB-x"),
        (r"a\b", r"a\b"),
    ],
)
def test_escapes(word: str, expected: str) -> None:
    assert unescape(word) == expected
