"""Sentiment trees: words, phrases, escapes, any depth, and each fault told with file and line."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.errors import InputError
from elmo_tasks.sst.trees import Phrase, parse_tree, read_trees, unescape
from tests.tiny import FIXTURES, REAL_DATA

FIXTURE = FIXTURES / "sst" / "trees.txt"

Nested = tuple[str, "str | list[Nested]"]
WRITTEN = {"a": "a", "(": "-LRB-", "1/2": r"1\/2", "x\xa0y": "x\xa0y", "'s": "'s"}
LEAVES = st.tuples(st.sampled_from("01234"), st.sampled_from(sorted(WRITTEN)))
TREES = st.recursive(LEAVES, lambda inner: st.tuples(st.sampled_from("01234"), st.lists(inner, min_size=1, max_size=3)))


def written(tree: Nested) -> str:
    label, inside = tree
    if isinstance(inside, str):
        return f"({label} {WRITTEN[inside]})"
    return f"({label} {' '.join(written(child) for child in inside)})"


def flat(tree: Nested, start: int = 0) -> tuple[list[str], list[Phrase]]:
    """Words and phrases by recursion, which the parser does without."""
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
def test_reads_what_was_written(tree: Nested) -> None:
    words, phrases = flat(tree)
    parsed = parse_tree(written(tree))
    assert (list(parsed.words), list(parsed.phrases)) == (words, phrases)
    assert parsed.root.length == len(words)


def test_the_fixture_by_hand() -> None:
    trees = list(read_trees(FIXTURE))
    assert [" ".join(tree.words) for tree in trees] == [
        "The ferry ran on time .",
        "Oakes 's third novel ( 1/2 ) is not good at all",
        "Splendid",
        "The soup came at noon",
    ]
    assert [tree.root.label for tree in trees] == ["3", "1", "4", "2"]
    assert [tree.line for tree in trees] == [1, 2, 3, 4]
    assert [len(tree.phrases) for tree in trees] == [11, 23, 1, 9]
    assert Phrase("3", 9, 10) in trees[1].phrases
    assert Phrase("1", 8, 10) in trees[1].phrases
    assert Phrase("0", 7, 12) in trees[1].phrases
    assert trees[2].phrases == (Phrase("4", 0, 1),)


@pytest.mark.parametrize(
    ("piece", "word"),
    [("-LRB-", "("), ("-RRB-", ")"), ("-RCB-", "}"), (r"and\/or", "and/or"), (r"\*\*", "**"), ("--", "--"), ("a", "a")],
)
def test_escapes(piece: str, word: str) -> None:
    assert unescape(piece) == word
    assert parse_tree(f"(2 {piece})").words == (word,)


def test_a_no_break_space_is_part_of_a_word() -> None:
    assert parse_tree("(2 (2 1\xa01/2) (2 x))").words == ("1\xa01/2", "x")


def test_any_depth() -> None:
    depth = 20_000
    tree = parse_tree("(3 (2 a) " * depth + "(4 b)" + ")" * depth)
    assert tree.words == ("a",) * depth + ("b",)
    assert tree.root == Phrase("3", 0, depth + 1)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("(3 (2 It) (3 works)", "1 of the brackets are never closed"),
        ("(3 (2 It", "2 of the brackets are never closed"),
        ("(3 (2 It)))", r"text after the end of the tree: '\)'"),
        ("(3 It) works", "text after the end of the tree: 'works'"),
        ("(3 It) (3 works)", r"text after the end of the tree: '\('"),
        ("3 It", "a tree opens with a bracket; found '3'"),
        (")", r"a tree opens with a bracket; found '\)'"),
        ("(It)", "a label from 0 to 4 was wanted, found 'It'"),
        ("(5 It)", "a label from 0 to 4 was wanted, found '5'"),
        ("(-1 It)", "a label from 0 to 4 was wanted, found '-1'"),
        ("((2 It) (3 works))", "a label from 0 to 4 was wanted, found another node"),
        ("()", "an empty node"),
        ("(3 (2 It) ())", "an empty node"),
        ("(3)", r"a node without words: \(3\)"),
        ("(3 (2) (2 It))", r"a node without words: \(2\)"),
        ("(3 It works)", "a node has one word or nodes; found 'works' after 'It'"),
        ("(3 (2 It) works)", "a node has one word or nodes; found 'works' after 'It'"),
        ("(3 It (2 works))", "a node has one word or nodes, not both; found a node after 'It'"),
        (f"({'x' * 99} It)", r"a label from 0 to 4 was wanted, found 'x{59}\.\.\."),
        (f"(3 {'x' * 99} It)", r"a node has one word or nodes; found 'It' after 'x{59}\.\.\."),
        (f"(3 {'x' * 99} (2 It))", r"a node has one word or nodes, not both; found a node after 'x{59}\.\.\."),
        (f"(3 It) {'x' * 99}", r"text after the end of the tree: 'x{59}\.\.\."),
        ("x" * 99, r"a tree opens with a bracket; found 'x{59}\.\.\."),
    ],
)
def test_faults(text: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "train.txt"
    file.write_text(f"(2 fine)\n\n{text}\n")
    with pytest.raises(InputError, match=rf"train\.txt:3: {problem}.*\(a tree looks like \(3 "):
        list(read_trees(file))


def test_a_file_without_trees(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("\n \n")
    with pytest.raises(InputError, match=r"train\.txt: no tree found"):
        list(read_trees(tmp_path / "train.txt"))


def test_a_missing_file_below_the_data_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMO_TASKS_DATA", str(tmp_path))
    with pytest.raises(InputError, match="belongs below it at sst/train.txt; the Stanford Sentiment Treebank"):
        list(read_trees(tmp_path / "sst" / "train.txt"))


@pytest.mark.parametrize(("name", "sentences", "phrases"), [("train", 8544, 318582), ("dev", 1101, 41447)])
def test_the_treebank(name: str, sentences: int, phrases: int) -> None:
    file = REAL_DATA / "sst" / f"{name}.txt"
    if not file.is_file():
        pytest.skip(f"{file} is absent")
    trees = list(read_trees(file))
    assert len(trees) == sentences
    assert sum(len(tree.phrases) for tree in trees) == phrases
    assert not any("\\" in word or "-RB-" in word for tree in trees for word in tree.words)
