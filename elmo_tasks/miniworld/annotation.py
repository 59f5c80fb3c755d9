"""
What a generated sentence carries: tokens with lemma, tag and sense, and spans over them.

Every later file format is a projection of these: named entities give the NER columns, frames give
predicate-argument structure, mentions give coreference, senses and tags give the probing data.
Spans are half-open token ranges `[start, end)` counted from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Token:
    """One token: its text, lemma, Penn Treebank tag and, for words with several senses, its sense."""

    text: str
    lemma: str
    pos: str
    sense: str | None = None


@dataclass(frozen=True)
class NamedEntity:
    """A name: its span and its type, one of PER, LOC, ORG and MISC."""

    start: int
    end: int
    label: str


@dataclass(frozen=True)
class Mention:
    """A span that refers to an entity of the world: `form` is name, nominal or pronoun."""

    start: int
    end: int
    entity: str
    form: str


@dataclass(frozen=True)
class Role:
    """An argument or adjunct of a predicate, with a PropBank-style label such as A0 or AM-TMP."""

    start: int
    end: int
    label: str


@dataclass(frozen=True)
class Frame:
    """A predicate at token `predicate`, in the sense `lemma.sense`, with its roles."""

    predicate: int
    lemma: str
    sense: str
    roles: tuple[Role, ...]
    negated: bool = False


@dataclass(frozen=True)
class Phrase:
    """Some tokens and the annotation over them; phrases are joined with `+` or `join`."""

    tokens: tuple[Token, ...] = ()
    names: tuple[NamedEntity, ...] = ()
    mentions: tuple[Mention, ...] = ()
    frames: tuple[Frame, ...] = ()

    def __len__(self) -> int:
        return len(self.tokens)

    def __add__(self, other: Phrase) -> Phrase:
        if not self.tokens:
            return other
        moved = other.shifted(len(self))
        return Phrase(
            self.tokens + moved.tokens,
            self.names + moved.names,
            self.mentions + moved.mentions,
            self.frames + moved.frames,
        )

    @property
    def words(self) -> list[str]:
        """The texts of the tokens."""
        return [token.text for token in self.tokens]

    def shifted(self, by: int) -> Phrase:
        """The same phrase with every span moved to the right by `by` tokens."""
        return self.moved(self.tokens, lambda index: index + by)

    def without(self, place: int) -> Phrase:
        """The phrase without the token at `place`; spans over it shrink."""
        left = self.tokens[:place] + self.tokens[place + 1 :]
        return self.moved(left, lambda index: index - (index > place))

    def moved(self, tokens: tuple[Token, ...], new: Callable[[int], int]) -> Phrase:
        """The same annotation over other tokens, each place `i` become `new(i)`."""
        if not (self.names or self.mentions or self.frames):
            return Phrase(tokens)
        return Phrase(
            tokens,
            tuple(NamedEntity(new(n.start), new(n.end), n.label) for n in self.names),
            tuple(Mention(new(m.start), new(m.end), m.entity, m.form) for m in self.mentions),
            tuple(move_frame(frame, new) for frame in self.frames),
        )

    def named(self, label: str) -> Phrase:
        """The phrase with a named entity over the whole of it."""
        return replace(self, names=(*self.names, NamedEntity(0, len(self), label)))

    def mentioning(self, entity: str, *, form: str) -> Phrase:
        """The phrase with a mention of `entity` over the whole of it."""
        return replace(self, mentions=(*self.mentions, Mention(0, len(self), entity, form)))

    def capitalised(self) -> Phrase:
        """The phrase as it stands at the start of a sentence."""
        first = self.tokens[0]
        first = replace(first, text=first.text[0].upper() + first.text[1:])
        return replace(self, tokens=(first, *self.tokens[1:]))


def move_frame(frame: Frame, new: Callable[[int], int]) -> Frame:
    """The same frame with each place `i` become `new(i)`."""
    roles = tuple(Role(new(r.start), new(r.end), r.label) for r in frame.roles)
    return Frame(new(frame.predicate), frame.lemma, frame.sense, roles, frame.negated)


def join(phrases: Iterable[Phrase]) -> Phrase:
    """The phrases in a row."""
    whole = Phrase()
    for phrase in phrases:
        whole = whole + phrase
    return whole
