"""
The role-labelling view, in the columns of CoNLL-2012.

Half of the sentences are the world's, half are of constructions of this view's own (`srl_constructions`): the same
event in many orders, so that neither a word nor its place tells its role. Training and held-out sentences come from
different worlds and from lines of the tables that overlap only in part.

Departures from OntoNotes: parses are dummies, framesets have names instead of numbers, names have the types of
CoNLL-2003, there is no coreference, and a predicate's modals and negation have no role.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from elmo_tasks.data.brackets import brackets_from_spans
from elmo_tasks.data.spans import Span
from elmo_tasks.miniworld.annotation import Frame, Phrase
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.scene import Scene
from elmo_tasks.miniworld.sentence import MAX_LENGTH, MIN_LENGTH, TOPIC_WEIGHTS, finished, make_sentence
from elmo_tasks.miniworld.srl_constructions import said_before, said_between, transfer
from elmo_tasks.miniworld.world import World, build_world

SIZES = {"train": 500, "development": 300, "test": 300}
PEOPLE = {"train": 100, "development": 80, "test": 80}
DOCUMENT_LENGTH = 10
OWN_SHARE = 0.5

OWN: list[tuple[Callable[[Scene], Phrase], float]] = [(transfer, 7.0), (said_between, 1.5), (said_before, 1.5)]


def srl_files(*, seed: int) -> dict[str, str]:
    """The three files, by their paths below the corpus folder."""
    seen: set[tuple[str, ...]] = set()
    return {f"srl/{name}/world.gold_conll": conll2012(srl_sentences(name, seed=seed, seen=seen)) for name in SIZES}


def srl_sentences(name: str, *, seed: int, seen: set[tuple[str, ...]]) -> list[Phrase]:
    """
    The annotated sentences behind one file, each with a predicate at least.

    # Parameters

    name : `str`
        `train`, `development` or `test`.
    seed : `int`
        The seed of the worlds.
    seen : `set[tuple[str, ...]]`
        Sentences that must not come again; the new ones are added.
    """
    dice = Dice(seed, f"srl/{name}")
    split = "train" if name == "train" else "heldout"
    world = build_world(dice, people=PEOPLE[name], stems=PEOPLE[name], split=split)
    chosen: list[Phrase] = []
    for phrase in phrases(world, dice, split=split):
        key = tuple(phrase.words)
        if key not in seen:
            seen.add(key)
            chosen.append(phrase)
        if len(chosen) == SIZES[name]:
            break
    return chosen


def phrases(world: World, dice: Dice, *, split: str) -> Iterator[Phrase]:
    """Endless sentences with a predicate, of 4 to 35 tokens."""
    while True:
        own = dice.chance(OWN_SHARE)
        phrase = own_sentence(world, dice, split=split) if own else make_sentence(world, dice, split=split).phrase
        if phrase.frames and MIN_LENGTH <= len(phrase) <= MAX_LENGTH:
            yield phrase


def own_sentence(world: World, dice: Dice, *, split: str) -> Phrase:
    """A sentence of this view's own constructions."""
    topic = dice.choice(world.entities[dice.weighted(TOPIC_WEIGHTS)])
    return finished(dice.weighted(OWN)(Scene(world, dice, split, topic)))


def conll2012(sentences: Sequence[Phrase]) -> str:
    """The text of a file: documents of ten sentences."""
    lines: list[str] = []
    for place, sentence in enumerate(sentences):
        key = f"mw/{place // DOCUMENT_LENGTH:04d}"
        if place % DOCUMENT_LENGTH == 0:
            lines.append(f"#begin document ({key}); part 000")
        lines += [*conll2012_lines(sentence, key), ""]
        if place % DOCUMENT_LENGTH == DOCUMENT_LENGTH - 1 or place == len(sentences) - 1:
            lines.append("#end document")
    return "".join(f"{line}\n" for line in lines)


def conll2012_lines(sentence: Phrase, key: str) -> list[str]:
    """One line for each token: 11 columns, one for each predicate, and coreference, which is empty."""
    frames = sorted(sentence.frames, key=lambda frame: frame.predicate)
    by_place = {frame.predicate: frame for frame in frames}
    names = brackets_from_spans((Span(n.start, n.end, n.label) for n in sentence.names), length=len(sentence))
    columns = [brackets_from_spans(argument_spans(frame), length=len(sentence)) for frame in frames]
    lines = []
    for place, token in enumerate(sentence.tokens):
        frame = by_place.get(place)
        predicate = ("-", "-") if frame is None else (frame.lemma, frame.sense)
        start = (key, "0", str(place), token.text, token.pos, parse_bit(place, len(sentence)), *predicate, "-", "-")
        lines.append("\t".join((*start, names[place], *(column[place] for column in columns), "-")))
    return lines


def parse_bit(place: int, length: int) -> str:
    """A parse without structure."""
    return ("(TOP*" if place == 0 else "*") + (")" if place == length - 1 else "")


def argument_spans(frame: Frame) -> list[Span]:
    """The predicate and its roles under their labels in OntoNotes: `ARG0`, `R-ARG1`, `ARGM-TMP`."""
    roles = [Span(role.start, role.end, ontonotes_label(role.label)) for role in frame.roles]
    return [Span(frame.predicate, frame.predicate + 1, "V"), *roles]


def ontonotes_label(label: str) -> str:
    """`R-A0` is `R-ARG0`, `AM-TMP` is `ARGM-TMP`."""
    prefix, plain = (label[:2], label[2:]) if label[1] == "-" else ("", label)
    return f"{prefix}ARG{plain[1:]}"
