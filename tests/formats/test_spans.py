import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.errors import InputError
from elmo_tasks.formats.spans import Scheme, Span, detect_scheme, spans_from_tags, to_bioul

LABELS = st.sampled_from(["PER", "LOC", "creative-work"])


@st.composite
def sentences(draw: st.DrawFn, *, least: int = 0) -> tuple[int, list[Span]]:
    """A length and spans within it, some of them adjacent."""
    spans, position = [], 0
    for _ in range(draw(st.integers(least, 5))):
        start = position + draw(st.integers(0, 2))
        position = start + draw(st.integers(1, 4))
        spans.append(Span(start, position, draw(LABELS)))
    return position + draw(st.integers(0, 2)), spans


def encode(scheme: Scheme, spans: list[Span], length: int) -> list[str]:
    begin, inside, last, single = {"BIO": "BIIB", "IOB1": "BIIB", "BIOUL": "BILU", "BIOES": "BIES"}[scheme.name]
    tags = ["O"] * length
    before = Span(-1, -1, "")
    for span in spans:
        start, end, label = span
        letters = [inside] * (end - start)
        letters[-1] = last
        if scheme is not Scheme.IOB1 or before[1:] == (start, label):
            letters[0] = single if end - start == 1 else begin
        tags[start:end] = [f"{letter}-{label}" for letter in letters]
        before = span
    return tags


SCHEMES = st.sampled_from(list(Scheme))


@settings(deadline=None)
@given(sentence=sentences(), scheme=SCHEMES)
def test_spans_and_bioul_of_each_scheme(sentence: tuple[int, list[Span]], scheme: Scheme) -> None:
    length, spans = sentence
    tags = encode(scheme, spans, length)
    assert spans_from_tags(tags) == spans
    assert to_bioul(tags) == encode(Scheme.BIOUL, spans, length)


@settings(deadline=None)
@given(
    corpus=st.lists(
        st.lists(st.sampled_from(["O", *(f"{letter}-{x}" for letter in "BIULSE" for x in "XY")])),
        max_size=3,
    )
)
def test_legal_tags_are_those_that_a_scheme_produces(corpus: list[list[str]]) -> None:
    """A corpus is accepted if and only if encoding its spans in one scheme gives the same tags."""
    legal = [
        scheme for scheme in Scheme if all(encode(scheme, spans_from_tags(tags), len(tags)) == tags for tags in corpus)
    ]
    if legal:
        assert detect_scheme([(1, tags) for tags in corpus]) is legal[0]
    else:
        with pytest.raises(InputError, match="expected tags of one scheme"):
            detect_scheme([(1, tags) for tags in corpus])


@pytest.mark.parametrize("tag", ["Z-PER", "B-", "I", "", "O-PER", "b-PER", "-PER", "NN", "\x1b[31m" * 999])
def test_invalid_tags(tag: str) -> None:
    with pytest.raises(InputError, match="eng.train:8: expected a tag such as 'O' or 'B-PER'") as caught:
        detect_scheme([(3, ["O"]), (7, ["O", tag, "O"])], file="eng.train")
    assert len(str(caught.value)) < 200 and str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("corpus", "line", "problem"),
    [
        (["B-X I-X B-X", "O I-X"], 12, "'I-X' after 'O', illegal in the closest, BIO "),
        (["I-X I-Y", "I-X", "O B-X"], 22, "'B-X' after 'O', illegal in the closest, IOB1 "),
        (["U-X O B-X L-X", "B-X I-X"], 12, "'O' after 'I-X', illegal in the closest, BIOUL "),
    ],
)
def test_mixed_schemes(corpus: list[str], line: int, problem: str) -> None:
    lines = [(10 * number + 1, tags.split()) for number, tags in enumerate(corpus)]
    with pytest.raises(InputError, match=f"eng.train:{line}: .*{problem}"):
        detect_scheme(lines, file="eng.train")
