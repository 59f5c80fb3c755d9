"""
Clauses: from a plan (who does what, when, whether) to tokens with the predicate and its roles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from elmo_tasks.miniworld.annotation import Frame, Phrase, Role, Token
from elmo_tasks.miniworld.lexicon import tag_of
from elmo_tasks.miniworld.morphology import inflect_verb
from elmo_tasks.miniworld.pattern import Item, RolePattern, VerbFrame, Word
from elmo_tasks.miniworld.scene import Filling, NounPhrase, Scene, fill, word

MODALS = {"will": "would", "could": "could", "might": "might", "must": "must"}


@dataclass(frozen=True)
class ClausePlan:
    """
    What a clause says, apart from the words it is said in.

    # Parameters

    frame : `VerbFrame`
        The verb, its sense and its arguments.
    subject : `NounPhrase`
        The one that does it (or, in the passive, the one after `by`).
    tense : `str`
        `past`, `present`, `past_perfect`, `present_perfect`, or a modal verb.
    negated, passive : `bool`
        Polarity and voice.
    adverb : `str`
        An adverb that stands with the verb, or an empty string.
    about : `NounPhrase`, optional
        What the slot `{any}` of the frame stands for.
    """

    frame: VerbFrame
    subject: NounPhrase
    tense: str = "past"
    negated: bool = False
    passive: bool = False
    adverb: str = ""
    about: NounPhrase | None = None


@dataclass(frozen=True)
class VerbGroup:
    """The verbs of a clause in their order; the first carries the tense."""

    tokens: tuple[Token, ...]
    main_tag: str


def verb_group(plan: ClausePlan, *, plural: bool, inverted: bool = False) -> VerbGroup:
    """The verbs of a clause with agreement, `do` where negation or inversion asks for it, and `not`."""
    lemmas = verb_chain(plan, inverted=inverted)
    tag = finite_tag(plan.tense, plural=plural)
    tokens: list[Token] = []
    for place, lemma in enumerate(lemmas):
        last = place == len(lemmas) - 1
        sense = plan.frame.sense if last else ""
        if last and plan.adverb and lemma != "be":
            tokens.append(Token(plan.adverb, plan.adverb, "RB"))
        tokens.append(verb_token(lemma, tag, sense=sense, plural=plural))
        if place == 0 and plan.negated:
            tokens.append(Token("not", "not", "RB"))
        if last and plan.adverb and lemma == "be":
            tokens.append(Token(plan.adverb, plan.adverb, "RB"))
        if not last:
            tag = following_tag(lemma, passive=plan.passive and place == len(lemmas) - 2)
    return VerbGroup(tuple(tokens), tag)


def verb_chain(plan: ClausePlan, *, inverted: bool) -> list[str]:
    """The lemmas of the verb group, finite verb first."""
    chain = ["be", plan.frame.lemma] if plan.passive else [plan.frame.lemma]
    if plan.tense.endswith("perfect"):
        chain = ["have", *chain]
    elif plan.tense in MODALS:
        chain = [plan.tense, *chain]
    if (plan.negated or inverted) and len(chain) == 1 and chain != ["be"]:
        chain = ["do", *chain]
    return chain


def finite_tag(tense: str, *, plural: bool) -> str:
    """The tag of the verb that carries the tense."""
    if tense in MODALS:
        return "MD"
    if tense.startswith("past"):
        return "VBD"
    return "VBP" if plural else "VBZ"


def following_tag(lemma: str, *, passive: bool) -> str:
    """The tag of the verb after `lemma` in a verb group."""
    if passive or lemma in ("have", "be"):
        return "VBN"
    return "VB"


def verb_token(lemma: str, tag: str, *, sense: str, plural: bool) -> Token:
    """One verb form; its sense is kept as `lemma.sense`."""
    if tag == "MD":
        return Token(lemma, lemma, tag)
    form = inflect_verb(lemma, tag, sense=sense, plural=plural)
    return Token(form, lemma, tag, f"{lemma}.{sense}" if sense else None)


def predicate_place(group: VerbGroup) -> int:
    """Where in the group the main verb stands: the last verb."""
    return max(i for i, token in enumerate(group.tokens) if token.pos[:2] in ("VB", "MD"))


def predicate(scene: Scene, plan: ClausePlan) -> tuple[Phrase, NounPhrase]:
    """
    The verb group with its complements, and the noun phrase that stands as grammatical subject.

    The frame of the verb comes first among the phrase's frames and holds all roles but the subject's.
    """
    items, subject = plan.frame.items, plan.subject
    if plan.passive:
        subject, items = passive_subject(scene, plan.frame), items[1:]
    group = verb_group(plan, plural=subject.plural)
    return complete(scene, plan, group=group, items=items), subject


def complete(scene: Scene, plan: ClausePlan, *, group: VerbGroup, items: Sequence[Item]) -> Phrase:
    """A verb group followed by complements, with the verb's frame as the first frame."""
    filling = Filling(gender=plan.subject.gender, tag=group.main_tag, own=plan.about)
    rest, roles = fill(scene, items, filling)
    verbs = Phrase(group.tokens)
    placed = tuple(replace(r, start=r.start + len(verbs), end=r.end + len(verbs)) for r in roles)
    whole = verbs + rest
    if plan.passive:
        agent = word("by") + plan.subject.phrase
        placed = (*placed, Role(len(whole), len(whole) + len(agent), plan.frame.subject_label))
        whole = whole + agent
    frame = Frame(predicate_place(group), plan.frame.lemma, plan.frame.sense, placed, negated=plan.negated)
    return replace(whole, frames=(frame, *whole.frames))


def passive_subject(scene: Scene, frame: VerbFrame) -> NounPhrase:
    """The first object as the subject of a passive clause."""
    first = frame.items[0]
    if not isinstance(first, RolePattern):
        raise ValueError(f"{frame.lemma}.{frame.sense} has no object and so no passive")
    return NounPhrase(fill(scene, first.items)[0], number_of(first.items))


def number_of(items: Sequence[Item]) -> str:
    """`p` where a noun phrase is plural, told by its last noun before any preposition, else `n`."""
    head = "NN"
    for item in items:
        tag = (item.tag or tag_of(item.text)) if isinstance(item, Word) else "NN"
        if tag in ("IN", "TO", "WP", "WDT"):
            break
        head = tag if tag.startswith("NN") else head
    return "p" if head == "NNS" else "n"


def subject_role(plan: ClausePlan) -> str:
    """The role of the grammatical subject."""
    return "A1" if plan.passive else plan.frame.subject_label


def clause(scene: Scene, plan: ClausePlan) -> Phrase:
    """A whole clause in plain order; its own frame comes first."""
    verb_phrase, subject = predicate(scene, plan)
    return attach_subject(subject.phrase, verb_phrase, role=subject_role(plan))


def attach_subject(subject: Phrase, verb_phrase: Phrase, *, role: str) -> Phrase:
    """Subject and verb phrase in a row, the subject's role added to the first frame."""
    whole = subject + verb_phrase
    frames = whole.frames[len(subject.frames) :] + whole.frames[: len(subject.frames)]
    first = frames[0]
    first = replace(first, roles=(Role(0, len(subject), role), *first.roles))
    return replace(whole, frames=(first, *frames[1:]))


def front(phrase: Phrase, adjunct: Phrase, *, label: str) -> Phrase:
    """A clause with an adjunct and a comma before it."""
    whole = adjunct + word(",") + phrase
    first = whole.frames[0]
    first = replace(first, roles=(Role(0, len(adjunct), label), *first.roles))
    return replace(whole, frames=(first, *whole.frames[1:]))


def append(phrase: Phrase, adjunct: Phrase, *, label: str) -> Phrase:
    """A clause with an adjunct after it."""
    whole = phrase + adjunct
    first = whole.frames[0]
    first = replace(first, roles=(*first.roles, Role(len(phrase), len(whole), label)))
    return replace(whole, frames=(first, *whole.frames[1:]))


def question(scene: Scene, plan: ClausePlan) -> Phrase:
    """A yes-no question, without the question mark; the verb group needs an auxiliary, so no bare `be`."""
    group = verb_group(plan, plural=plan.subject.plural, inverted=True)
    first, rest = group.tokens[0], VerbGroup(group.tokens[1:], group.main_tag)
    body = complete(scene, plan, group=rest, items=plan.frame.items)
    inner = attach_subject(plan.subject.phrase, body, role=plan.frame.subject_label)
    return Phrase((first,)) + inner
