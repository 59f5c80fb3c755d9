"""
Told clauses read back from their frames, as questions need them: who or what stands before the verb, what follows it,
and in which voice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from elmo_tasks.miniworld.annotation import Frame, Mention, Phrase, Role, Token
from elmo_tasks.miniworld.pattern import parse_frame
from elmo_tasks.miniworld.srl_tables import TRANSFER_VERBS
from elmo_tasks.miniworld.subjects import FRAMES
from elmo_tasks.miniworld.tables import entries

CORE = frozenset(("A0", "A1", "A2"))
LINKS = frozenset(entries("after although because before while until for that"))
LONGEST = 9
"""Tokens of the longest phrase that a question asks for or repeats."""


@dataclass(frozen=True)
class Part:
    """
    One phrase of a clause.

    # Parameters

    label : `str`
        Its role, or an empty string for an adverb or particle that belongs to the verb.
    tokens : `tuple[Token, ...]`
        Its words as they stand within a sentence, without the preposition of a core role.
    start, end : `int`
        Where they stand in the sentence.
    preposition : `str`
        What stands before a core role, or an empty string.
    mention : `Mention`, optional
        What it mentions if it does nothing else.
    key : `tuple[str, ...]`
        The same for all phrases that mean the same: entities in place of their names.
    """

    label: str
    tokens: tuple[Token, ...]
    start: int
    end: int
    preposition: str = ""
    mention: Mention | None = None
    key: tuple[str, ...] = ()

    @property
    def bare(self) -> bool:
        """Whether it is a core role without a preposition."""
        return self.label in CORE and not self.preposition


@dataclass(frozen=True)
class Clause:
    """A verb with its phrases in the order in which a question repeats them."""

    lemma: str
    sense: str
    passive: bool
    subject: Part
    rest: tuple[Part, ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The subject and all others."""
        return self.subject, *self.rest

    def part(self, label: str) -> Part | None:
        """The first phrase with this role."""
        return next((part for part in self.parts if part.label == label), None)


def read_clause(phrase: Phrase, frame: Frame) -> Clause | None:
    """The clause of a frame; None where it has no subject, is cut in two or is more than its roles."""
    roles = [role for role in frame.roles if not role.label.startswith("R-")]
    before = [role for role in roles if role.start < frame.predicate]
    cores = sorted((role for role in before if role.label in CORE), key=lambda role: role.start)
    if not cores or any(role.label.startswith("C-") for role in roles):
        return None
    parts = [make_part(phrase, role) for role in cores]
    adjuncts = [make_part(phrase, role) for role in before if role.label not in CORE]
    behind, end = following(phrase, frame, roles)
    if any(role.start >= end for role in roles) or goes_on(phrase, end):
        return None
    rest = (*parts[:-1], *behind, *adjuncts)
    return Clause(frame.lemma, frame.sense, is_passive(phrase, frame), parts[-1], rest)


def following(phrase: Phrase, frame: Frame, roles: Sequence[Role]) -> tuple[list[Part], int]:
    """The roles behind the verb with what stands between them, and where they end."""
    starts = {role.start: role for role in roles}
    parts, place = [], frame.predicate + 1
    while place < len(phrase):
        role = starts.get(place)
        if role is None and phrase.tokens[place].pos not in ("RP", "RB", "JJ"):
            break
        role = role or Role(place, place + 1, "")
        parts.append(make_part(phrase, role))
        place = role.end
    return parts, place


def goes_on(phrase: Phrase, place: int) -> bool:
    """Whether what stands at a place still belongs to the clause before it."""
    token = phrase.tokens[min(place, len(phrase) - 1)]
    return token.pos in ("IN", "TO", "DT", "JJR", "VB", "VBG", "PRP") and token.text not in LINKS


def make_part(phrase: Phrase, role: Role) -> Part:
    """The phrase of a role, without its preposition and without what is said of it between commas."""
    start, end, preposition = role.start, role.end, ""
    tokens = phrase.tokens
    if role.label in CORE and end - start > 1 and tokens[start].pos in ("IN", "TO"):
        preposition, start = tokens[start].text.lower(), start + 1
    end = end if preposition == "that" else end_of_name(tokens, start, end)
    inside = [mention for mention in phrase.mentions if start <= mention.start and mention.end <= end]
    whole = next((mention for mention in inside if (mention.start, mention.end) == (start, end)), None)
    opens = not start or tokens[start - 1].text == '"'
    own = (as_within(tokens[start]) if opens else tokens[start], *tokens[start + 1 : end])
    return Part(role.label, own, start, end, preposition, whole, key_of(phrase, start, end, inside))


def end_of_name(tokens: Sequence[Token], start: int, end: int) -> int:
    """Where a phrase ends without what is said of it between commas; a row of names ends where it ends."""
    commas = [place for place in range(start + 1, end) if tokens[place].text == ","]
    listed = tokens[end - 1].text != "," and any(token.text == "and" for token in tokens[start:end])
    return end if listed or not commas else commas[0]


def as_within(token: Token) -> Token:
    """The token without the capital of a sentence's start."""
    return token if token.pos.startswith("NNP") else replace(token, text=token.text[0].lower() + token.text[1:])


def key_of(phrase: Phrase, start: int, end: int, mentions: Iterable[Mention]) -> tuple[str, ...]:
    """The words from `start` to `end`, lower-cased, entities in place of what mentions them."""
    entities = {mention.start: mention for mention in mentions}
    key, place = [], start
    while place < end:
        mention = entities.get(place)
        key.append(mention.entity if mention else phrase.tokens[place].text.lower())
        place = mention.end if mention else place + 1
    return tuple(word for word in key if word not in ("the", "a", "an"))


def verb_tokens(phrase: Phrase, frame: Frame) -> tuple[Token, ...]:
    """The verbs in a row, the main verb last, with adverbs among them."""
    start = frame.predicate
    while start and phrase.tokens[start - 1].pos[:2] in ("VB", "MD", "RB"):
        start -= 1
    return phrase.tokens[start : frame.predicate + 1]


def is_passive(phrase: Phrase, frame: Frame) -> bool:
    """Whether the main verb is a participle after a form of `be`."""
    *others, main = verb_tokens(phrase, frame)
    verbs = [token for token in others if token.pos != "RB"]
    return main.pos == "VBN" and bool(verbs) and verbs[-1].lemma == "be"


def is_fact(phrase: Phrase, frame: Frame) -> bool:
    """Whether the clause says that something has happened: the past or a perfect, not negated."""
    *others, main = verb_tokens(phrase, frame)
    finite = next((token for token in (*others, main) if token.pos != "RB"), main)
    past = main.pos in ("VBD", "VBN") and (finite.pos == "VBD" or finite.lemma == "have")
    never = any(token.text in ("never", "not") for token in others)
    return past and not never and not frame.negated and frame.lemma not in ("be", "have")


@cache
def verbs_with_passive() -> frozenset[tuple[str, str]]:
    """Lemma and sense of the verbs that have a passive."""
    frames = [parse_frame(line) for table in FRAMES.values() for line in table.strip().splitlines()]
    transfers = [parse_frame(line) for line in TRANSFER_VERBS.strip().splitlines()]
    return frozenset((frame.lemma, frame.sense) for frame in [*(f for f in frames if f.passive), *transfers])


def other_voice(clause: Clause) -> Clause | None:
    """The same in the other voice; None where the clause has none, or nobody is told after `by`."""
    if clause.passive:
        agent = clause.part("A0")
        if agent is None or agent.preposition != "by":
            return None
        rest = (clause.subject, *(part for part in clause.rest if part is not agent))
        return replace(clause, passive=False, subject=replace(agent, preposition=""), rest=rest)
    if clause.subject.label != "A0" or (clause.lemma, clause.sense) not in verbs_with_passive():
        return None
    if not clause.rest or not clause.rest[0].bare:
        return None
    first, *others = clause.rest
    cores = [part for part in others if part.label in CORE or not part.label]
    adjuncts = [part for part in others if part not in cores]
    agent = replace(clause.subject, preposition="by")
    return replace(clause, passive=True, subject=first, rest=(*cores, agent, *adjuncts))
