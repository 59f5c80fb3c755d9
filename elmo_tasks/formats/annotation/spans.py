"""
Labelled spans and the tag schemes that encode them, one tag per token.

| scheme | first token | inside | last token | single token |
|---|---|---|---|---|
| BIO (IOB2) | B | I | I | B |
| IOB1 | I, or B directly after a span of the same type | I | I | as first token |
| BIOUL (BILOU) | B | I | L | U |
| BIOES (IOBES) | B | I | E | S |
| BMES | B | M | E | S |

A tag is a letter, a dash and a type, or the letter alone where spans have no types.
Tokens outside all spans are tagged O.
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.errors import InputError

OUTSIDE = "O"
_LETTERS = frozenset("BIULSEM")
_BEGINNING = frozenset("BUS")
_ENDING = frozenset("LEUS")


class Span(NamedTuple):
    """A labelled span of tokens, `end` exclusive."""

    start: int
    end: int
    label: str


class Scheme(Enum):
    """
    How tags encode spans. The value is the letters of a span's first token, tokens
    inside, last and single token.
    """

    BIO = "BIIB"
    IOB1 = "IIII"
    BIOUL = "BILU"
    BIOES = "BIES"
    BMES = "BMES"

    def encode(self, spans: Iterable[Span], length: int) -> list[str]:
        """
        The tags of a sentence of `length` tokens. Spans are in order and do not
        overlap.
        """
        first, inside, last, single = self.value
        tags = [OUTSIDE] * length
        before = (-1, "")
        for start, end, label in spans:
            if end - start == 1:
                letters = [single]
            else:
                letters = [first] + [inside] * (end - start - 2) + [last]
            if self is Scheme.IOB1 and before == (start, label):
                letters[0] = "B"
            tags[start:end] = [join_tag(letter, label) for letter in letters]
            before = (end, label)
        return tags


def split_tag(tag: str) -> tuple[str, str]:
    """
    Splits a tag at its first dash: `B-creative-work` into `("B", "creative-work")`, `O`
    and `B` into `("O", "")` and `("B", "")`. Raises `ValueError` for other tags.
    """
    if tag == OUTSIDE:
        return OUTSIDE, ""
    letter, dash, label = tag.partition("-")
    if letter not in _LETTERS or bool(dash) != bool(label):
        raise ValueError(
            f"expected a tag such as 'O' or 'B-PER' (letters B, I, U, L, S, E, M), got {tag!r:.60}"
        )
    return letter, label


def join_tag(letter: str, label: str) -> str:
    """The tag of a letter and a type, which may be empty."""
    if not label:
        return letter
    return f"{letter}-{label}"


def spans_from_tags(tags: Sequence[str]) -> list[Span]:
    """
    The spans of tags of any scheme as conlleval sees them, in order, also of illegal
    tags: all tags other than O are part of a span, which begins at B, U or S, after O,
    L, E, U or S, and where the type changes. Raises `ValueError` if a tag is invalid.
    """
    spans: list[Span] = []
    start = 0
    open_label: str | None = None
    before = OUTSIDE
    for position, tag in enumerate(list(tags) + [OUTSIDE]):
        letter, type_ = split_tag(tag)
        label = None
        if letter != OUTSIDE:
            label = type_
        begins = letter in _BEGINNING or before in _ENDING
        if begins or label != open_label:
            if open_label is not None:
                spans.append(Span(start, position, open_label))
            start, open_label = position, label
        before = letter
    return spans


def to_bioul(tags: Sequence[str]) -> list[str]:
    """
    Converts the tags of a sentence from any scheme to BIOUL. Raises what
    `spans_from_tags` does.
    """
    return Scheme.BIOUL.encode(spans_from_tags(tags), len(tags))


def detect_scheme(
    sentences: Iterable[tuple[int, Sequence[str]]], *, file: str | Path | None = None
) -> Scheme:
    """
    Detects the scheme that encodes the spans of a corpus with the same tags, from the
    line of the first token and the tags of each sentence; `Scheme.BIO` if there are no
    spans. Raises `InputError` if a tag is invalid, or one has a type and another has
    none; if no scheme gives the same tags, at the first one that differs in the scheme
    with the fewest differences.
    """
    # Line, tag and legal tag of each that is illegal.
    illegal: dict[Scheme, list[tuple[int, str, str]]] = {one: [] for one in Scheme}
    example = ""
    for start, tags in sentences:
        example = _check_tags(tags, start, file, example)
        spans = spans_from_tags(tags)
        for scheme in Scheme:
            encoded = scheme.encode(spans, len(tags))
            for line, pair in enumerate(zip(tags, encoded, strict=True), start=start):
                tag, legal = pair
                if tag != legal:
                    illegal[scheme].append((line, tag, legal))
    best = min(Scheme, key=lambda scheme: len(illegal[scheme]))
    if illegal[best]:
        line, tag, legal = illegal[best][0]
        problem = (
            f"expected tags of one scheme, got {tag!r:.60} in place of {legal!r:.60}"
        )
        raise InputError(f"{problem} of the closest, {best.name}", file=file, line=line)
    return best


def _check_tags(
    tags: Sequence[str], line: int, file: str | Path | None, example: str
) -> str:
    """The first tag of a span in the corpus: `example`, if it is not empty."""
    for offset, tag in enumerate(tags):
        try:
            split_tag(tag)
        except ValueError as error:
            raise InputError(str(error), file=file, line=line + offset) from None
        if tag == OUTSIDE:
            continue
        example = example or tag
        if ("-" in tag) != ("-" in example):
            problem = f"expected a type in all tags or in none, got {tag!r:.60} after {example!r:.60}"
            raise InputError(problem, file=file, line=line + offset)
    return example
