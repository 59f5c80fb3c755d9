"""Spans and mentions in columns of brackets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.formats.annotation.brackets import (
    BracketError,
    brackets_from_spans,
    cluster_cells,
    mentions_from_brackets,
    reading_order,
    spans_from_brackets,
)
from elmo_tasks.formats.annotation.spans import Span

COLUMNS = {
    "short forms": ("(A) * (B*) -", [(0, 1, "A"), (2, 3, "B")]),
    "nested": ("(A* (B*) *)", [(0, 3, "A"), (1, 2, "B")]),
    "the same first word": ("(A(B* *) *)", [(0, 3, "A"), (0, 2, "B")]),
    "the same last word": ("(A* (B* *))", [(0, 3, "A"), (1, 3, "B")]),
    "the same words": ("(B(A* *))", [(0, 2, "A"), (0, 2, "B")]),
    "the label of another": ("(A* (A*) *)", [(0, 3, "A"), (1, 2, "A")]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_spans(name: str) -> None:
    column, expected = COLUMNS[name]
    assert spans_from_brackets(column.split()) == tuple(Span(*one) for one in expected)


MENTIONS = {
    "longer ones first": ("(1|(2 2) 1)", [(0, 3, "1"), (0, 2, "2")]),
    "of one entity, nested": ("(1 (1 1) 1)", [(0, 4, "1"), (1, 3, "1")]),
    "equal ones as they open": ("(7|(2 2)|7)", [(0, 2, "7"), (0, 2, "2")]),
    "repeated": ("(5)|(5) *", [(0, 1, "5"), (0, 1, "5")]),
    "opened and closed": ("(1 1)|(1 1)", [(0, 2, "1"), (1, 3, "1")]),
}


@pytest.mark.parametrize("name", MENTIONS)
def test_mentions(name: str) -> None:
    column, expected = MENTIONS[name]
    found = mentions_from_brackets(column.split())
    assert found == tuple(Span(*one) for one in expected)


@pytest.mark.parametrize(
    ("column", "token", "problem"),
    [
        ("* x", 1, r"expected brackets such as '\(ARG0\*', '\*' or '\*\)', got 'x'"),
        ("* (A", 1, "closed in its sentence"),
        ("(A* ()", 1, "expected brackets"),
        ("* *)", 1, r"'\*\)' closes a bracket that was not opened"),
        ("(A*) *)", 1, "closes a bracket that was not opened"),
        ("* (A* (B* *)", 1, r"the bracket '\(A' is not closed in its sentence"),
    ],
)
def test_invalid_spans(column: str, token: int, problem: str) -> None:
    with pytest.raises(BracketError, match=problem) as caught:
        spans_from_brackets(column.split())
    assert caught.value.token == token


@pytest.mark.parametrize(
    ("column", "token", "problem"),
    [
        ("- 5", 1, r"expected brackets such as '\(12', '12\)' or '\(12\)\|\(3', got"),
        ("- (5)|", 1, r"got '\(5\)\|'"),
        ("- (5)(6)", 1, "expected brackets"),
        ("- 5)", 1, r"'5\)' closes a bracket that was not opened"),
        ("(4 5)", 1, "closes a bracket that was not opened"),
        ("(5) 5)", 1, "closes a bracket that was not opened"),
        ("(3) (5 (6 6)", 1, r"the bracket '\(5' is not closed in its document"),
        ("(5 (5 -", 1, r"the bracket '\(5' is not closed in its document"),
    ],
)
def test_invalid_mentions(column: str, token: int, problem: str) -> None:
    with pytest.raises(BracketError, match=problem) as caught:
        mentions_from_brackets(column.split())
    assert caught.value.token == token


@given(st.data())
def test_spans_round_trip(data: st.DataObject) -> None:
    spans = []
    end = 0
    for _ in range(data.draw(st.integers(0, 4))):
        start = end + data.draw(st.integers(0, 2))
        end = start + data.draw(st.integers(1, 3))
        spans.append(Span(start, end, data.draw(st.sampled_from("AB"))))
    length = end + data.draw(st.integers(0, 2))
    cells = brackets_from_spans(spans, length=length)
    assert len(cells) == length
    assert spans_from_brackets(cells) == tuple(spans)


PLACES = st.tuples(st.integers(0, 7), st.integers(1, 4))


@given(st.lists(PLACES, max_size=6))
def test_mentions_round_trip(places: list[tuple[int, int]]) -> None:
    """Each of an entity of its own, so that they may cross."""
    clusters = [[(start, start + length)] for start, length in places]
    cells = cluster_cells(clusters, length=11)
    expected = []
    for number, ((start, end),) in enumerate(clusters):
        expected.append((start, -end, number))
    found = []
    for start, end, label in mentions_from_brackets(cells):
        found.append((start, -end, int(label)))
    assert len(cells) == 11 and found == sorted(expected)


@pytest.mark.parametrize(
    ("clusters", "column"),
    [
        ([], "- - - -"),
        ([[(0, 1)], [(3, 4)]], "(0) - - (1)"),
        ([[(0, 2), (2, 4)]], "(0 0) (0 0)"),
        ([[(0, 2)], [(0, 4)]], "(1|(0 0) - 1)"),
        ([[(0, 4)], [(2, 4)]], "(0 - (1 1)|0)"),
        ([[(0, 1)], [(0, 3)]], "(1|(0) - 1) -"),
        ([[(1, 2), (1, 2)]], "- (0)|(0) - -"),
    ],
)
def test_columns_of_clusters(clusters: list, column: str) -> None:
    assert cluster_cells(clusters, length=4) == column.split()


@pytest.mark.parametrize("mention", [(-1, 1), (1, 1), (2, 1), (3, 5), (4, 5)])
def test_clusters_outside_of_the_document(mention: tuple[int, int]) -> None:
    start, end = mention
    with pytest.raises(
        ValueError, match=f"a document of 4 words, got {start} to {end}"
    ):
        cluster_cells([[(0, 4)], [mention]], length=4)


def test_order_of_the_scorer() -> None:
    expected = [(0, 1), (0, 3), (0, 2), (1, 2), (1, 9), (4, 5)]
    assert sorted(set(expected), key=reading_order) == expected
