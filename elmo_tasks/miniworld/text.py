"""
The unlabelled view: plain text for language-model training, one tokenised sentence a line.
"""

from __future__ import annotations

from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.ner import distinct_sentences
from elmo_tasks.miniworld.sentence import make_sentence
from elmo_tasks.miniworld.world import build_world

SIZES = {"lm/train.miniworld.txt": 20000, "lm/heldout.miniworld.txt": 2000}
PEOPLE, STEMS = 300, 400


def text_files(*, seed: int) -> dict[str, str]:
    """The training and held-out text, by their paths below the corpus folder."""
    dice = Dice(seed, "lm")
    world = build_world(dice, people=PEOPLE, stems=STEMS, split="all")
    seen: set[tuple[str, ...]] = set()
    files = {}
    for path, size in SIZES.items():
        stream = (make_sentence(world, dice, split="all") for _ in iter(int, 1))
        sentences = distinct_sentences(stream, count=size, seen=seen)
        files[path] = "".join(" ".join(sentence.words) + "\n" for sentence in sentences)
    return files
