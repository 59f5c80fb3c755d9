"""
Labelled spans and the tag schemes that encode them, one tag per token.

| scheme | first token | inside | last token | single token |
|---|---|---|---|---|
| BIO (IOB2) | B | I | I | B |
| IOB1 | I, or B directly after a span of the same type | I | I | as first token |
| BIOUL (BILOU) | B | I | L | U |
| BIOES (IOBES) | B | I | E | S |

Tokens outside all spans are tagged O. A file with spans is legal in at most one of these schemes.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.errors import InputError

OUTSIDE = "O"
_LETTERS = frozenset("BIULSE")
_BEGINNING = frozenset("BUS")


class Span(NamedTuple):
    """A labelled span of tokens, `end` exclusive."""

    start: int
    end: int
    label: str


class Scheme(Enum):
    """How tags encode spans. The value is the scheme's letters other than O."""

    BIO = "BI"
    IOB1 = "IB"
    BIOUL = "BIUL"
    BIOES = "BISE"

    def allows(self, previous: str, tag: str) -> bool:
        """Whether `tag` may follow `previous`; O stands for the boundaries of a sentence."""
        letter, label = split_tag(tag)
        before, label_before = split_tag(previous)
        if letter != OUTSIDE and letter not in self.value:
            return False
        continues = before != OUTSIDE and label == label_before
        if self is Scheme.BIO:
            return letter != "I" or continues
        if self is Scheme.IOB1:
            return letter != "B" or continues
        single, last = self.value[2:]
        if before in ("B", "I"):
            return letter in ("I", last) and continues
        return letter in (OUTSIDE, "B", single)


def split_tag(tag: str) -> tuple[str, str]:
    """
    Splits a tag at its first dash: `B-creative-work` into `("B", "creative-work")`, `O` into `("O", "")`. Raises
    `ValueError` if it is neither O nor one of the letters, a dash and a type.
    """
    if tag == OUTSIDE:
        return OUTSIDE, ""
    letter, _, label = tag.partition("-")
    if letter not in _LETTERS or not label:
        raise ValueError(f"expected a tag such as 'O' or 'B-PER' (letters B, I, U, L, S, E), got {tag!r:.60}")
    return letter, label


def spans_from_tags(tags: Sequence[str]) -> list[Span]:
    """
    Decodes tags of any scheme as conlleval does: all tags other than O are part of a span, which begins at B, U or S,
    after O, and where the type changes. Illegal sequences give the spans that conlleval sees. Spans are in order and do
    not overlap. Raises `ValueError` if a tag is invalid; see `split_tag`.
    """
    spans: list[Span] = []
    start, open_label = 0, ""
    for position, tag in enumerate([*tags, OUTSIDE]):
        letter, label = split_tag(tag)
        if letter in _BEGINNING or label != open_label:
            if open_label:
                spans.append(Span(start, position, open_label))
            start, open_label = position, label
    return spans


def to_bioul(tags: Sequence[str]) -> list[str]:
    """Converts the tags of a sentence from any scheme to BIOUL. Raises what `spans_from_tags` does."""
    bioul = [OUTSIDE] * len(tags)
    for start, end, label in spans_from_tags(tags):
        bioul[start:end] = [f"I-{label}"] * (end - start)
        bioul[start] = f"B-{label}"
        bioul[end - 1] = f"L-{label}" if end - start > 1 else f"U-{label}"
    return bioul


def detect_scheme(sentences: Iterable[tuple[int, Sequence[str]]], *, file: str | Path | None = None) -> Scheme:
    """
    Detects the scheme in which all tags of a corpus are legal, from the line of the first token and the tags of each
    sentence; `Scheme.BIO` if there are no spans. Raises `InputError` if a tag is invalid; if no scheme allows all of
    them, at the first tag that is illegal in the scheme with the fewest illegal tags.
    """
    counts, first = Counter[Scheme](), dict[Scheme, tuple[int, str]]()
    for line, tags in sentences:
        _check_tags(tags, line, file)
        for scheme in Scheme:
            for place, (before, tag) in enumerate(pairwise([OUTSIDE, *tags, OUTSIDE])):
                if not scheme.allows(before, tag):
                    counts[scheme] += 1
                    at = line + min(place, len(tags) - 1)
                    first.setdefault(scheme, (at, f"{tag!r:.60} after {before!r:.60}"))
    best = min(Scheme, key=lambda scheme: counts[scheme])
    if counts[best]:
        listed = ", ".join(f"{scheme.name} {counts[scheme]}" for scheme in Scheme)
        problem = f"expected tags of one scheme, got {first[best][1]}, illegal in the closest, {best.name}"
        raise InputError(f"{problem} (illegal tags: {listed})", file=file, line=first[best][0])
    return best


def _check_tags(tags: Sequence[str], line: int, file: str | Path | None) -> None:
    for offset, tag in enumerate(tags):
        try:
            split_tag(tag)
        except ValueError as error:
            raise InputError(str(error), file=file, line=line + offset) from None
