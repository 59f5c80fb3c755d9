"""
The entailment view, in the JSON lines of SNLI, without parses.

Training and held-out pairs come from different worlds, and from lines of the tables that overlap only in part: about
half of the held-out contexts, deeds and verbs are never seen in training.
"""

from __future__ import annotations

import json
from collections import Counter

from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.nli_families import (
    CONTRADICTION,
    ENTAILMENT,
    FAMILIES,
    NEUTRAL,
    Family,
    Pair,
    Source,
)
from elmo_tasks.miniworld.world import build_world

SIZES = {"train": 3000, "dev": 600, "test": 600}
PEOPLE = {"train": 150, "dev": 80, "test": 80}


def nli_files(*, seed: int) -> dict[str, str]:
    """The three files, by their paths below the corpus folder."""
    seen: set[tuple[str, str]] = set()
    return {f"snli/snli_1.0_{name}.jsonl": json_lines(nli_pairs(name, seed=seed, seen=seen)) for name in SIZES}


def nli_pairs(name: str, *, seed: int, seen: set[tuple[str, str]]) -> list[Pair]:
    """
    The pairs behind one file, in random order.

    # Parameters

    name : `str`
        `train`, `dev` or `test`.
    seed : `int`
        The seed of the worlds.
    seen : `set[tuple[str, str]]`
        Premises with hypotheses that must not come again; the new ones are added.
    """
    dice = Dice(seed, f"nli/{name}")
    split = "train" if name == "train" else "heldout"
    source = Source(build_world(dice, people=PEOPLE[name], stems=PEOPLE[name], split=split), dice, split)
    pairs: list[Pair] = []
    for family in FAMILIES:
        pairs += balanced(family, source, count=round(family.share * SIZES[name]), seen=seen)
    return dice.shuffled(pairs)


def balanced(family: Family, source: Source, *, count: int, seen: set[tuple[str, str]]) -> list[Pair]:
    """`count` new pairs of a family: as many neutral ones as it says, of the others half entailed and half not."""
    neutral = round(family.neutral * count)
    wanted = Counter({NEUTRAL: neutral, ENTAILMENT: (count - neutral) // 2, CONTRADICTION: (count - neutral) // 2})
    pairs: list[Pair] = []
    while wanted.total():
        pair = family.make(source)
        key = (pair.premise, pair.hypothesis)
        if wanted[pair.label] and key not in seen:
            wanted[pair.label] -= 1
            seen.add(key)
            pairs.append(pair)
    return pairs


def json_lines(pairs: list[Pair]) -> str:
    """The text of a file."""
    return "".join(f"{json.dumps(record(pair, number))}\n" for number, pair in enumerate(pairs))


def record(pair: Pair, number: int) -> dict[str, object]:
    """What stands on a line: the official fields but for the parses."""
    return {
        "annotator_labels": [pair.label],
        "gold_label": pair.label,
        "pairID": f"{number}{pair.label[0]}",
        "sentence1": pair.premise,
        "sentence2": pair.hypothesis,
    }
