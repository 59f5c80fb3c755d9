"""
Questions about told clauses: each asks for one role and repeats as much of the rest as makes the answer certain, in
a voice of its own, with names in forms of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from elmo_tasks.miniworld import phrases, qa_tables
from elmo_tasks.miniworld.annotation import Phrase, Token, join
from elmo_tasks.miniworld.morphology import inflect_verb
from elmo_tasks.miniworld.qa_clauses import CORE, LONGEST, Clause, Part, other_voice
from elmo_tasks.miniworld.scene import Scene, named, with_articles, word, words
from elmo_tasks.miniworld.tables import entries
from elmo_tasks.miniworld.world import Entity

ADJUNCTS = {"AM-TMP": "when", "AM-LOC": "where", "AM-CAU": "why", "AM-PNC": "why", "AM-MNR": "how"}
OTHER_VOICE, ADJUNCT_REPEATED, UNNAMED, FRONTED, SHORT = 0.5, 0.15, 0.3, 0.4, 0.7
"""How often a question turns to the other voice, repeats an adjunct, leaves whoever acts unnamed, opens `to whom`, and
leaves out what it can."""


def may_be_asked(part: Part) -> bool:
    """Whether a question may ask for a phrase."""
    first = part.tokens[0]
    if len(part.tokens) > LONGEST or first.text == "nobody" or (part.mention and part.mention.form == "pronoun"):
        return False
    if part.label in ADJUNCTS:
        return part.label != "AM-TMP" or first.text not in entries(qa_tables.NO_TIMES)
    return (
        part.label in CORE
        and not is_verbal(part)
        and first.pos[:2] in ("DT", "NN", "CD", "JJ", "PR")
        and first.pos != "PRP"
    )


def is_verbal(part: Part) -> bool:
    """Whether a phrase has a clause in it."""
    return any(token.pos in ("VB", "VBP", "VBZ", "VBD", "MD") for token in part.tokens)


def may_be_repeated(part: Part) -> bool:
    """Whether a question can repeat a phrase: no pronoun for somebody unknown, and not too long."""
    alone = len(part.tokens) == 1 and part.tokens[0].pos == "PRP" and part.mention is None
    unfit = alone and not part.tokens[0].text.endswith("self") or part.tokens[0].text == "nobody"
    return len(part.tokens) <= LONGEST and not unfit and (part.preposition == "that" or not is_verbal(part))


def may_be_left_out(clause: Clause, part: Part) -> bool:
    """Whether a question can do without a phrase: an adjunct, who acts after `by`, or a receiver."""
    if part.label not in CORE or part.preposition == "by":
        return bool(part.label)
    thing = clause.part("A1")
    complete = thing is not None and thing.bare and (clause.passive or thing is not clause.subject)
    return part.label == "A2" and part is not clause.subject and complete


def may_match(other: Clause, asked: Part, given: Sequence[Part]) -> bool:
    """Whether a question for a role that gives these phrases may be about another clause too."""
    if other.part(asked.label) is None:
        return False
    known = [(part, other.part(part.label)) for part in given if part.label]
    return all(mine.key == theirs.key for mine, theirs in known if theirs is not None)


def given_parts(scene: Scene, clause: Clause, asked: Part) -> tuple[Part, ...]:
    """The phrases that a question for one of them repeats: the core of the clause, and seldom an adjunct."""
    return tuple(
        part
        for part in clause.parts
        if part.start != asked.start
        and (part.label in CORE or not part.label or scene.dice.chance(ADJUNCT_REPEATED) and may_be_repeated(part))
    )


def ask(scene: Scene, clause: Clause, asked: Part, given: Sequence[Part], *, unnamed: bool = False) -> Phrase:
    """
    A question for a phrase of a clause.

    # Parameters

    given : `Sequence[Part]`
        The phrases that it repeats.
    unnamed : `bool`
        Whether the one who acts is `somebody`.
    """
    turned = other_voice(clause) if scene.dice.chance(OTHER_VOICE) else None
    told = turned or clause
    starts = {part.start for part in given}
    wh = wh_word(scene, asked)
    fronted = asked.label in CORE and scene.dice.chance(FRONTED)
    row, lead = [], Phrase()
    for part in told.rest:
        if part.start in starts:
            row.append(repeated(scene, part, unnamed=unnamed))
        elif part.start == asked.start and part.preposition:
            lead, row = (words(part.preposition), row) if fronted else (lead, [*row, words(part.preposition)])
    if asked.start == told.subject.start:
        return closed([wh, finite(told), *row])
    aux, main = inverted(told)
    subject = repeated(scene, told.subject, unnamed=unnamed)
    return closed([lead, whom(wh) if len(lead) else wh, aux, subject, main, *row])


def repeated(scene: Scene, part: Part, *, unnamed: bool = False) -> Phrase:
    """A phrase in a question, entities by any of their names."""
    lead = words(part.preposition)
    if unnamed and part.label == "A0":
        return lead + word(scene.dice.choice(("somebody", "someone")))
    if part.mention is None:
        return lead + Phrase(part.tokens)
    return lead + Phrase(named(scene, entity_of(scene, part)).phrase.tokens)


def entity_of(scene: Scene, part: Part) -> Entity:
    """The entity that a phrase mentions."""
    kind = part.mention.entity.partition(":")[0] if part.mention else ""
    return next(one for one in scene.world.entities[kind] if part.mention and one.identifier == part.mention.entity)


def wh_word(scene: Scene, asked: Part) -> Phrase:
    """`who`, `what`, `which` with a word for the kind, or the word for an adjunct."""
    if asked.label in ADJUNCTS:
        lasting = asked.label == "AM-TMP" and asked.tokens[0].text in entries(qa_tables.DURATIONS)
        return words("how long" if lasting else ADJUNCTS[asked.label])
    if is_person(asked):
        return word("who")
    if asked.mention is None:
        return word("what")
    kind = entity_of(scene, asked).kind
    name = scene.dice.choice(qa_tables.KIND_NAMES[kind].split())
    return words(f"which {name}") if scene.dice.chance(0.5) else word("what")


def is_person(part: Part) -> bool:
    """Whether a phrase stands for a person or people."""
    if part.mention is not None:
        return part.mention.entity.startswith("person:")
    return head_of(part.tokens) in people()


def whom(wh: Phrase) -> Phrase:
    """`whom` for `who`, as it stands after a preposition."""
    return word("whom") if wh.words == ["who"] else wh


@cache
def people() -> frozenset[str]:
    """Nouns for people."""
    occupations = " ".join(phrases.OCCUPATIONS.values()).split()
    return frozenset((*occupations, *entries(qa_tables.PEOPLE)))


def head_of(tokens: Sequence[Token]) -> str:
    """The last noun before any preposition or relative pronoun."""
    head = ""
    for token in tokens:
        if token.pos in ("IN", "TO", "WP", "WDT"):
            break
        head = token.text if token.pos.startswith("NN") else head
    return head


def is_plural(part: Part) -> bool:
    """Whether the verb takes its plural form."""
    if part.mention is not None and part.mention.entity.startswith("club:"):
        return True
    tags = []
    for token in part.tokens:
        if token.pos in ("IN", "TO", "WP", "WDT"):
            break
        tags.append(token.pos)
    nouns = [tag for tag in tags if tag.startswith("NN")]
    return "CC" in tags or bool(nouns) and nouns[-1] == "NNS"


def finite(clause: Clause) -> Phrase:
    """The verb after `who` or `what`."""
    if clause.passive:
        return word("was", tag="VBD") + verb(clause, "VBN")
    return verb(clause, "VBD")


def inverted(clause: Clause) -> tuple[Phrase, Phrase]:
    """What stands before and after the subject of a question."""
    if clause.passive:
        return word("were" if is_plural(clause.subject) else "was", tag="VBD"), verb(clause, "VBN")
    return word("did", tag="VBD"), verb(clause, "VB")


def verb(clause: Clause, tag: str) -> Phrase:
    """The main verb in one of its forms."""
    return Phrase((Token(inflect_verb(clause.lemma, tag, sense=clause.sense), clause.lemma, tag),))


def closed(pieces: Sequence[Phrase]) -> Phrase:
    """The question with its capital and its mark."""
    whole = join(pieces)
    return (with_articles(replace(whole, frames=(), names=(), mentions=())) + word("?")).capitalised()
