import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.spans import (
    Scheme,
    Span,
    detect_scheme,
    spans_from_tags,
    to_bioul,
)

LABELS = st.sampled_from(["PER", "LOC", "creative-work"])
NO_TYPE = st.just("")


@st.composite
def sentences(draw: st.DrawFn, *, least: int = 0) -> tuple[int, list[Span]]:
    """A length and spans within it, some of them adjacent, all with a type or none."""
    labels = draw(st.sampled_from([LABELS, NO_TYPE]))
    spans, position = [], 0
    for _ in range(draw(st.integers(least, 5))):
        start = position + draw(st.integers(0, 2))
        position = start + draw(st.integers(1, 4))
        spans.append(Span(start, position, draw(labels)))
    return position + draw(st.integers(0, 2)), spans


@settings(deadline=None)
@given(sentence=sentences(), scheme=st.sampled_from(list(Scheme)))
def test_spans_of_each_scheme(sentence: tuple[int, list[Span]], scheme: Scheme) -> None:
    length, spans = sentence
    tags = scheme.encode(spans, length)
    assert spans_from_tags(tags) == spans
    assert to_bioul(tags) == Scheme.BIOUL.encode(spans, length)


@pytest.mark.parametrize(
    ("scheme", "tags"),
    [
        (Scheme.BIO, "B-X I-X I-X O B-X B-X B-Y"),
        (Scheme.IOB1, "I-X I-X I-X O I-X B-X I-Y"),
        (Scheme.BIOUL, "B-X I-X L-X O U-X U-X U-Y"),
        (Scheme.BIOES, "B-X I-X E-X O S-X S-X S-Y"),
        (Scheme.BMES, "B-X M-X E-X O S-X S-X S-Y"),
    ],
)
def test_tags_of_each_scheme(scheme: Scheme, tags: str) -> None:
    spans = [(0, 3, "X"), (4, 5, "X"), (5, 6, "X"), (6, 7, "Y")]
    assert detect_scheme([(1, tags.split()), (9, ["O"])]) is scheme
    assert spans_from_tags(tags.split()) == spans
    assert scheme.encode([Span(*one) for one in spans], 7) == tags.split()


@pytest.mark.parametrize(
    "tag",
    ["Z-PER", "B-", "II", "", "O-PER", "b-PER", "-PER", "NN", "\x1b[31m" * 999],
)
def test_invalid_tags(tag: str) -> None:
    with pytest.raises(
        InputError, match="eng.train:8: expected a tag such as 'O' or 'B-PER'"
    ) as caught:
        detect_scheme([(3, ["O"]), (7, ["O", tag, "O"])], file="eng.train")
    assert len(str(caught.value)) < 200 and str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("corpus", "line", "problem"),
    [
        (["B-X I-X B-X", "O I-X"], 12, "'I-X' in place of 'B-X' of the closest, BIO"),
        (
            ["I-X I-Y", "I-X", "O B-X"],
            22,
            "'B-X' in place of 'I-X' of the closest, IOB1",
        ),
        (
            ["U-X O B-X L-X", "B-X I-X"],
            12,
            "'I-X' in place of 'L-X' of the closest, BIOUL",
        ),
    ],
)
def test_mixed_schemes(corpus: list[str], line: int, problem: str) -> None:
    lines = [(10 * number + 1, tags.split()) for number, tags in enumerate(corpus)]
    with pytest.raises(InputError, match=f"eng.train:{line}: .*{problem}"):
        detect_scheme(lines, file="eng.train")


def test_tags_with_and_without_types() -> None:
    with pytest.raises(
        InputError,
        match="eng.train:8: expected a type in all tags or in none, got 'I' after 'B-X'",
    ):
        detect_scheme([(3, ["B-X"]), (7, ["O", "I"])], file="eng.train")


def test_tags_without_spans() -> None:
    assert detect_scheme([]) is detect_scheme([(1, ["O"]), (3, [])]) is Scheme.BIO
    assert spans_from_tags([]) == spans_from_tags(["O", "O"]) == []
    assert to_bioul([]) == []


def test_the_first_scheme_that_fits() -> None:
    assert detect_scheme([(1, ["B-X", "I-X"])]) is Scheme.BIO
    assert detect_scheme([(1, ["B-X", "L-X"])]) is Scheme.BIOUL
    assert detect_scheme([(1, ["B-X", "E-X"])]) is Scheme.BIOES
    assert detect_scheme([(1, ["S-X"])]) is Scheme.BIOES


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("I-X I-Y", [(0, 1, "X"), (1, 2, "Y")]),
        ("I-X B-X", [(0, 1, "X"), (1, 2, "X")]),
        ("U-X L-X S-X E-X", [(0, 1, "X"), (1, 2, "X"), (2, 3, "X"), (3, 4, "X")]),
        ("B-X L-X L-X I-X", [(0, 2, "X"), (2, 3, "X"), (3, 4, "X")]),
        ("O M-X O", [(1, 2, "X")]),
        ("B I B", [(0, 2, ""), (2, 3, "")]),
    ],
)
def test_spans_of_mixed_tags(tags: str, expected: list[tuple[int, int, str]]) -> None:
    found = spans_from_tags(tags.split())
    assert found == [Span(*one) for one in expected]
