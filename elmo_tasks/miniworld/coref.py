"""
The coreference view, in the columns of CoNLL-2012.

Training and held-out stories come from different worlds, whose names and lines of the tables overlap only in part.
Departures from OntoNotes: parses, lemmas and names are dummies, and a story has no speakers.
"""

from __future__ import annotations

from collections.abc import Sequence

from elmo_tasks.data.mentions import Cluster, Mention, cluster_cells
from elmo_tasks.miniworld.annotation import Phrase
from elmo_tasks.miniworld.coref_story import SENTENCES, Story
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.world import build_world

SIZES = {"train": 160, "dev": 60, "test": 60}
PEOPLE = {"train": 120, "dev": 80, "test": 80}


def coref_files(*, seed: int) -> dict[str, str]:
    """The three files, by their paths below the corpus folder."""
    return {f"coref/{name}.gold_conll": conll2012(stories(name, seed=seed), name=name) for name in SIZES}


def stories(name: str, *, seed: int) -> list[list[Phrase]]:
    """The annotated sentences of each story of a file: `train`, `dev` or `test`."""
    dice = Dice(seed, f"coref/{name}")
    split = "train" if name == "train" else "heldout"
    world = build_world(dice, people=PEOPLE[name], stems=PEOPLE[name], split=split)
    told = []
    for _ in range(SIZES[name]):
        story = Story(world, dice, split=split)
        for _ in range(dice.choice(SENTENCES)):
            story.tell()
        told.append(story.sentences)
    return told


def story_clusters(sentences: Sequence[Phrase]) -> list[Cluster]:
    """The mentions of each entity that is mentioned twice or more, in words of the story, by the first mention."""
    found: dict[str, set[Mention]] = {}
    offset = 0
    for phrase in sentences:
        for mention in phrase.mentions:
            found.setdefault(mention.entity, set()).add((offset + mention.start, offset + mention.end))
        offset += len(phrase)
    return sorted(sorted(mentions) for mentions in found.values() if len(mentions) > 1)


def conll2012(told: Sequence[Sequence[Phrase]], *, name: str) -> str:
    """The text of a file."""
    documents = (document_lines(f"tale/{name}_{number:04d}", story) for number, story in enumerate(told))
    return "".join(f"{line}\n" for lines in documents for line in lines)


def document_lines(key: str, sentences: Sequence[Phrase]) -> list[str]:
    """A story as a document of one part, a token a line."""
    length = sum(len(phrase) for phrase in sentences)
    cells = iter(cluster_cells(story_clusters(sentences), length=length))
    lines = [f"#begin document ({key}); part 000"]
    for phrase in sentences:
        for number, token in enumerate(phrase.tokens):
            columns = (key, "0", str(number), token.text, token.pos, "*", "-", "-", "-", "-", "*", next(cells))
            lines.append("\t".join(columns))
        lines.append("")
    return [*lines, "#end document"]
