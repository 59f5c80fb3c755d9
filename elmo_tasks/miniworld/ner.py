"""
The named-entity view, in the columns of CoNLL-2003: word, tag, chunk and name tag, the last two in
IOB1 (B- only where a chunk or name directly follows another of its type).

Training and held-out sentences come from different worlds, whose names and contexts overlap only in
part: about half of the held-out stems, verbs and nouns are never seen in training. Since a stem
serves every type, neither a list of names nor the shape of a name tells the type; the rest of the
sentence does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from elmo_tasks.miniworld.annotation import NamedEntity, Token
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.sentence import Sentence, make_sentence
from elmo_tasks.miniworld.tables import entries
from elmo_tasks.miniworld.world import build_world

SIZES = {"eng.train": 400, "eng.testa": 500, "eng.testb": 500}
PEOPLE = {"eng.train": 100, "eng.testa": 110, "eng.testb": 110}
STEMS = {"eng.train": 90, "eng.testa": 120, "eng.testb": 120}
DOCUMENT_LENGTH = 10
NOUN_CHUNK = frozenset(entries("DT PRP PRP$ CD JJ JJR JJS NN NNS NNP NNPS POS EX WP"))
VERB_CHUNK = frozenset(entries("MD VB VBD VBG VBN VBP VBZ TO"))


def ner_files(*, seed: int) -> dict[str, str]:
    """The three files, by their paths below the corpus folder."""
    seen: set[tuple[str, ...]] = set()
    return {f"ner/{name}": conll2003(ner_sentences(name, seed=seed, seen=seen)) for name in SIZES}


def ner_sentences(name: str, *, seed: int, seen: set[tuple[str, ...]] | None = None) -> list[Sentence]:
    """
    The annotated sentences behind one file.

    # Parameters

    name : `str`
        `eng.train`, `eng.testa` or `eng.testb`.
    seed : `int`
        The seed of the worlds.
    seen : `set[tuple[str, ...]]`, optional
        Sentences that must not come again; the new ones are added.
    """
    dice = Dice(seed, f"ner/{name}")
    split = "train" if name == "eng.train" else "heldout"
    world = build_world(dice, people=PEOPLE[name], stems=STEMS[name], split=split)
    return distinct_sentences(
        (make_sentence(world, dice, split=split) for _ in iter(int, 1)),
        count=SIZES[name],
        seen=set() if seen is None else seen,
    )


def distinct_sentences(stream: Iterable[Sentence], *, count: int, seen: set[tuple[str, ...]]) -> list[Sentence]:
    """The first `count` sentences of a stream that are not in `seen`, to which they are added."""
    chosen: list[Sentence] = []
    for sentence in stream:
        if len(chosen) == count:
            break
        key = tuple(sentence.words)
        if key not in seen:
            seen.add(key)
            chosen.append(sentence)
    return chosen


def conll2003(sentences: Sequence[Sentence]) -> str:
    """The text of a file: documents of ten sentences, each opened by a `-DOCSTART-` line."""
    blocks: list[str] = []
    for place, sentence in enumerate(sentences):
        if place % DOCUMENT_LENGTH == 0:
            blocks.append("-DOCSTART- -X- -X- O\n")
        blocks.append("\n".join(conll2003_lines(sentence)) + "\n")
    return "\n".join(blocks)


def conll2003_lines(sentence: Sentence) -> list[str]:
    """One line of four columns for each token."""
    tokens = sentence.phrase.tokens
    name_tags = iob1(name_labels(sentence.phrase.names, length=len(tokens)))
    chunk_tags = iob1(chunk_labels(tokens))
    rows = zip(tokens, chunk_tags, name_tags, strict=True)
    return [f"{token.text} {token.pos} {chunk} {name}" for token, chunk, name in rows]


def name_labels(names: Sequence[NamedEntity], *, length: int) -> list[tuple[str, int]]:
    """For each token the type of its name and the number of that name, or `("O", -1)`."""
    labels = [("O", -1)] * length
    for number, name in enumerate(names):
        labels[name.start : name.end] = [(name.label, number)] * (name.end - name.start)
    return labels


def chunk_labels(tokens: Sequence[Token]) -> list[tuple[str, int]]:
    """For each token the type and number of its base phrase, told by the tags alone."""
    labels: list[tuple[str, int]] = []
    for token in tokens:
        kind = chunk_kind(token.pos)
        previous = labels[-1] if labels else ("O", 0)
        opens = kind != previous[0] or token.pos in ("POS", "DT", "PRP", "EX", "WP")
        labels.append((kind, previous[1] + opens))
    return labels


def chunk_kind(pos: str) -> str:
    """The type of base phrase that a tag belongs to."""
    if pos in NOUN_CHUNK:
        return "NP"
    if pos in VERB_CHUNK:
        return "VP"
    return {"IN": "PP", "RP": "PRT", "RB": "ADVP"}.get(pos, "O")


def iob1(labels: Sequence[tuple[str, int]]) -> list[str]:
    """IOB1 tags from the type and number of each token's span."""
    tags: list[str] = []
    previous = ("O", -1)
    for label in labels:
        adjacent = label[0] == previous[0] and label != previous
        tags.append("O" if label[0] == "O" else ("B-" if adjacent else "I-") + label[0])
        previous = label
    return tags
