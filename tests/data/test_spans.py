"""Tag schemes: recognised, told apart, read and written."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.data.spans import (
    Scheme,
    Span,
    bioul_from_spans,
    detect_scheme,
    spans_from_tags,
    split_tag,
    to_bioul,
)
from elmo_tasks.errors import InputError

LABELS = st.sampled_from(["PER", "LOC", "creative-work"])


@st.composite
def sentences(draw: st.DrawFn, *, least: int = 0) -> tuple[int, list[Span]]:
    """A length and spans that fit into it, some of them adjacent."""
    spans, position = [], 0
    for _ in range(draw(st.integers(least, 5))):
        start = position + draw(st.integers(0, 2))
        position = start + draw(st.integers(1, 4))
        spans.append(Span(start, position, draw(LABELS)))
    return position + draw(st.integers(0, 2)), spans


def spell(spans: list[Span], length: int, letters: str, *, begins: Callable[[int], bool]) -> list[str]:
    """Letters are for begin, inside, last, single; `begins` tells which spans use begin."""
    begin, inside, last, single = letters
    tags = ["O"] * length
    for index, (start, end, label) in enumerate(spans):
        inner = [inside] * (end - start)
        inner[-1] = last
        if begins(index):
            inner[0] = single if end - start == 1 else begin
        tags[start:end] = [f"{letter}-{label}" for letter in inner]
    return tags


def spell_in(scheme: Scheme, spans: list[Span], length: int) -> list[str]:
    def touches_same_type(index: int) -> bool:
        before = spans[index - 1] if index else Span(-1, -1, "")
        return before[1:] == (spans[index].start, spans[index].label)

    letters = {"BIO": "BIIB", "IOB1": "BIIB", "BIOUL": "BILU", "BIOES": "BIES"}[scheme.name]
    begins = touches_same_type if scheme is Scheme.IOB1 else lambda _: True
    return spell(spans, length, letters, begins=begins)


SCHEMES = st.sampled_from(list(Scheme))


@settings(deadline=None)
@given(sentence=sentences())
def test_spans_to_bioul_and_back(sentence: tuple[int, list[Span]]) -> None:
    length, spans = sentence
    tags = bioul_from_spans(spans, length=length)
    assert tags == spell_in(Scheme.BIOUL, spans, length)
    assert spans_from_tags(tags) == spans
    assert to_bioul(tags) == tags


@settings(deadline=None)
@given(sentence=sentences(), scheme=SCHEMES)
def test_every_scheme_to_bioul(sentence: tuple[int, list[Span]], scheme: Scheme) -> None:
    length, spans = sentence
    tags = spell_in(scheme, spans, length)
    assert spans_from_tags(tags) == spans
    assert to_bioul(tags) == spell_in(Scheme.BIOUL, spans, length)


@settings(deadline=None)
@given(corpus=st.lists(sentences(least=1), min_size=1, max_size=4), scheme=SCHEMES)
def test_scheme_is_recognised(corpus: list[tuple[int, list[Span]]], scheme: Scheme) -> None:
    tagged = [(1, spell_in(scheme, spans, length)) for length, spans in corpus]
    assert detect_scheme([*tagged, (1, ["O", "O"])]) is scheme


@settings(deadline=None)
@given(
    corpus=st.lists(
        st.lists(st.sampled_from(["O", *(f"{letter}-{x}" for letter in "BIULSE" for x in "XY")])),
        max_size=3,
    )
)
def test_accepted_tags_are_those_the_scheme_spells(corpus: list[list[str]]) -> None:
    """A corpus passes if and only if respelling its spans in some one scheme gives it back."""
    legal = [
        scheme
        for scheme in Scheme
        if all(spell_in(scheme, spans_from_tags(tags), len(tags)) == tags for tags in corpus)
    ]
    if legal:
        assert detect_scheme([(1, tags) for tags in corpus]) is legal[0]
    else:
        with pytest.raises(InputError, match="the tags follow no single scheme"):
            detect_scheme([(1, tags) for tags in corpus])


def test_examples_by_hand() -> None:
    assert to_bioul(["I-PER", "I-PER", "B-PER", "O", "I-LOC", "I-ORG"]) == (
        ["B-PER", "L-PER", "U-PER", "O", "U-LOC", "U-ORG"]
    )
    assert to_bioul(["B-PER", "I-PER", "B-PER", "O", "B-LOC", "B-ORG"]) == (
        ["B-PER", "L-PER", "U-PER", "O", "U-LOC", "U-ORG"]
    )
    assert to_bioul(["B-PER", "E-PER", "S-PER", "O", "S-LOC", "S-ORG"]) == (
        ["B-PER", "L-PER", "U-PER", "O", "U-LOC", "U-ORG"]
    )
    assert spans_from_tags(["U-PER", "B-LOC", "I-LOC", "L-LOC"]) == [
        Span(0, 1, "PER"),
        Span(1, 4, "LOC"),
    ]
    assert spans_from_tags([]) == []


def test_no_span_at_all_counts_as_bio() -> None:
    assert detect_scheme([(1, ["O", "O"]), (4, [])]) is Scheme.BIO


def test_tags_are_cut_at_the_first_dash() -> None:
    assert split_tag("B-creative-work") == ("B", "creative-work")
    assert split_tag("O") == ("O", "")


@pytest.mark.parametrize("tag", ["Z-PER", "B-", "I", "B", "", "O-PER", "b-PER", "-PER", "PER", "NN"])
def test_tag_that_cannot_be(tag: str) -> None:
    with pytest.raises(InputError, match=f"eng.train:8: the tag '{tag}' cannot be: expected 'O'"):
        detect_scheme([(3, ["O"]), (7, ["O", tag, "O"])], file="eng.train")
    with pytest.raises(ValueError, match="cannot be"):
        spans_from_tags([tag])


def test_a_long_tag_is_told_in_short() -> None:
    for tag in ("\x1b[31m" * 999, "B-" + "\x1b[31m" * 999, "I-" + "X" * 9999):
        with pytest.raises(InputError) as caught:
            detect_scheme([(1, ["S-X", tag, "U-X"])], file="eng.train")
        assert len(str(caught.value)) < 400 and str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("corpus", "line", "story"),
    [
        (["B-X I-X B-X", "O I-X"], 12, "the closest is BIO, in which 'I-X' after 'O' is illegal"),
        (["B-X I-X", "B-X", "B-X", "O I-X", "O O I-X"], 32, "BIO, in which 'I-X' after 'O' is"),
        (["I-X I-Y", "I-X", "O B-X"], 22, "closest is IOB1, in which 'B-X' after 'O' is illegal"),
        (["U-X O B-X L-X", "B-X I-X"], 12, "closest is BIOUL, in which 'I-X' ends the sentence"),
        (["S-X B-X E-X", "B-X O S-X"], 12, "closest is BIOES, in which 'O' after 'B-X' is"),
        (["B-X I-X", "B-X I-Y"], 12, "closest is BIO, in which 'I-Y' after 'B-X' is illegal"),
        (["U-X U-X", "S-X"], 11, "BIOUL, in which 'S-X' after the beginning of the sentence is"),
    ],
)
def test_mixed_schemes(corpus: list[str], line: int, story: str) -> None:
    lines = [(10 * number + 1, tags.split()) for number, tags in enumerate(corpus)]
    with pytest.raises(InputError, match=f"eng.train:{line}: .*{story}") as caught:
        detect_scheme(lines, file="eng.train")
    assert "illegal places: BIO " in str(caught.value)


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([Span(1, 1, "X")], "no span of 3 tokens"),
        ([Span(2, 4, "X")], "no span of 3 tokens"),
        ([Span(-1, 1, "X")], "no span of 3 tokens"),
        ([Span(0, 1, "")], "no span of 3 tokens"),
        ([Span(0, 2, "X"), Span(1, 3, "Y")], "overlaps"),
    ],
)
def test_spans_that_cannot_be_spelt(spans: list[Span], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bioul_from_spans(spans, length=3)
