"""
Labelled spans and the tag schemes that spell them, one tag per token.

| scheme | first token | inside | last token | single token |
|---|---|---|---|---|
| BIO (IOB2) | B | I | I | B |
| IOB1 | I, or B straight after a span of the same type | I | I | as first token |
| BIOUL (BILOU) | B | I | L | U |
| BIOES (IOBES) | B | I | E | S |

Tokens outside every span are tagged O. No file that has a span is legal in two of these schemes, so
that the scheme of a file follows from its tags.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.errors import InputError

OUTSIDE = "O"
_LETTERS = frozenset("BIULSE")
_BEGINNING = frozenset("BUS")


class Span(NamedTuple):
    """Tokens `start` to `end`, the end not included, with the type of what they name."""

    start: int
    end: int
    label: str


class Scheme(Enum):
    """How tags spell spans. The value is the letters that the scheme knows besides O."""

    BIO = "BI"
    IOB1 = "IB"
    BIOUL = "BIUL"
    BIOES = "BISE"

    def allows(self, previous: str, tag: str) -> bool:
        """Tells whether `tag` may follow `previous`; a sentence stands between two O."""
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
    Cuts a tag at its first dash: `B-creative-work` is `("B", "creative-work")`, `O` is `("O", "")`.

    # Raises

    `ValueError`
        If it is neither O nor a known letter, a dash and a type.
    """
    if tag == OUTSIDE:
        return OUTSIDE, ""
    letter, _, label = tag.partition("-")
    if letter not in _LETTERS or not label:
        wanted = "expected 'O', or one of B, I, U, L, S, E with a dash and a type, as in 'B-PER'"
        raise ValueError(f"the tag {tag!r:.60} cannot be: {wanted}")
    return letter, label


def spans_from_tags(tags: Sequence[str]) -> list[Span]:
    """
    Reads spans off tags of any scheme as conlleval does: every tag other than O is part of a span;
    one begins at B (U and S count as B), where the type changes, and after O. Legal sequences give
    the spans that were spelt; illegal ones, those that conlleval sees in them.

    # Returns

    `list[Span]`
        In order, never overlapping.

    # Raises

    `ValueError`
        If a tag cannot be, see `split_tag`.
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


def bioul_from_spans(spans: Iterable[Span], *, length: int) -> list[str]:
    """
    Spells spans in BIOUL over `length` tokens.

    # Raises

    `ValueError`
        If a span is empty, leaves the sentence, has no type, or overlaps another one.
    """
    tags = [OUTSIDE] * length
    for start, end, label in spans:
        if not 0 <= start < end <= length or not label:
            raise ValueError(f"no span of {length} tokens: {start}, {end}, {label!r}")
        if any(tag != OUTSIDE for tag in tags[start:end]):
            raise ValueError(f"the span {start}, {end}, {label!r} overlaps another one")
        tags[start:end] = [f"I-{label}"] * (end - start)
        tags[start] = f"B-{label}"
        tags[end - 1] = f"L-{label}" if end - start > 1 else f"U-{label}"
    return tags


def to_bioul(tags: Sequence[str]) -> list[str]:
    """Respells the tags of a sentence in BIOUL, whatever their scheme; it is not checked here."""
    return bioul_from_spans(spans_from_tags(tags), length=len(tags))


@dataclass(slots=True)
class _Faults:
    """How often a scheme is broken, and where first."""

    count: int = 0
    line: int = 0
    story: str = ""

    def add(self, line: int, previous: str, tag: str, *, at_end: bool) -> None:
        self.count += 1
        if self.count == 1:
            after = "the beginning of the sentence" if previous == "" else f"{previous!r:.60}"
            self.line = line
            self.story = f"{previous!r:.60} ends the sentence" if at_end else f"{tag!r:.60} after {after}"


def detect_scheme(sentences: Iterable[tuple[int, Sequence[str]]], *, file: str | Path | None = None) -> Scheme:
    """
    Recognises the one scheme in which all tags of a corpus are legal.

    # Parameters

    sentences : `Iterable[tuple[int, Sequence[str]]]`
        The line of the first token and the tags of each sentence.
    file : `str` or `Path`, optional
        Named in errors.

    # Returns

    `Scheme`
        `Scheme.BIO` where there is no span at all.

    # Raises

    `InputError`
        If a tag cannot be, or if no scheme allows all of them; then the line is the first that
        breaks the scheme which is broken least often.
    """
    faults = {scheme: _Faults() for scheme in Scheme}
    for line, tags in sentences:
        _check_tags(tags, line, file)
        for scheme, found in faults.items():
            _add_faults(found, scheme, tags, line)
    best = min(Scheme, key=lambda scheme: faults[scheme].count)
    if faults[best].count:
        raise _mixed_error(faults, best, file)
    return best


def _check_tags(tags: Sequence[str], line: int, file: str | Path | None) -> None:
    for offset, tag in enumerate(tags):
        try:
            split_tag(tag)
        except ValueError as error:
            raise InputError(str(error), file=file, line=line + offset) from None


def _add_faults(found: _Faults, scheme: Scheme, tags: Sequence[str], line: int) -> None:
    previous = ""
    for offset, tag in enumerate(tags):
        if not scheme.allows(previous or OUTSIDE, tag):
            found.add(line + offset, previous, tag, at_end=False)
        previous = tag
    if not scheme.allows(previous or OUTSIDE, OUTSIDE):
        found.add(line + len(tags) - 1, previous, OUTSIDE, at_end=True)


def _mixed_error(faults: dict[Scheme, _Faults], best: Scheme, file: str | Path | None) -> InputError:
    counts = ", ".join(f"{scheme.name} {found.count}" for scheme, found in faults.items())
    return InputError(
        f"the tags follow no single scheme; the closest is {best.name}, in which "
        f"{faults[best].story} is illegal (illegal places: {counts})",
        file=file,
        line=faults[best].line,
        hint="one file holds one scheme: mend the tag, or split the file",
    )
