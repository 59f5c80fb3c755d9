"""
The published rules of the official scorer of CoNLL-2012, version 8.01, on the text of
its files: a second implementation, for comparison with the product's.

Pradhan et al. (2014), "Scoring Coreference Partitions of Predicted Mentions", define
the three metrics. The scorer's own rules are about mentions that occur more than once.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import networkx

Mention = tuple[int, int]
"""The first and the last word."""


class Fraction(NamedTuple):
    part: float
    whole: float


class Scores(NamedTuple):
    """Recall and precision of each metric, as fractions of sums."""

    muc: tuple[Fraction, Fraction]
    b_cubed: tuple[Fraction, Fraction]
    ceaf_e: tuple[Fraction, Fraction]


def read_entities(cells: Iterable[str]) -> list[list[Mention]]:
    """
    The entities in a column of brackets, in the order in which the scorer meets their
    numbers: in each cell first the mentions of one word, then what opens, then what
    closes.
    """
    entities: dict[str, list[Mention]] = {}
    opened: dict[str, list[int]] = {}
    for word, cell in enumerate(cells):
        single = re.findall(r"\((\d+)\)", cell)
        cell = re.sub(r"\(\d+\)", "", cell)
        opening = re.findall(r"\((\d+)", cell)
        closing = re.findall(r"(\d+)\)", cell)
        for number in single:
            entities.setdefault(number, []).append((word, word))
        for number in opening:
            entities.setdefault(number, [])
            opened.setdefault(number, []).append(word)
        for number in closing:
            entities[number].append((opened[number].pop(), word))
    return list(entities.values())


def score(response_cells: Iterable[str], key_cells: Iterable[str]) -> Scores:
    """The scores of one document."""
    key = read_entities(key_cells)
    response = without_repeated(read_entities(response_cells), in_key=set(sum(key, [])))
    links = common_links(response, key)
    recall, precision = b_cubed_sums(response, key)
    aligned = best_alignment(response, key)
    key_mentions = sum(map(len, key))
    response_mentions = sum(map(len, response))
    return Scores(
        (
            Fraction(links, key_mentions - len(key)),
            Fraction(links, response_mentions - len(response)),
        ),
        (Fraction(recall, key_mentions), Fraction(precision, response_mentions)),
        (Fraction(aligned, len(key)), Fraction(aligned, len(response))),
    )


def without_repeated(
    response: Sequence[list[Mention]], *, in_key: set[Mention]
) -> list[list[Mention]]:
    """
    A mention that is in the key counts where it is read first; entities that become
    empty are removed.
    """
    found: set[Mention] = set()
    left = []
    for entity in response:
        new = []
        for mention in entity:
            if mention not in in_key:
                new.append(mention)
            elif mention not in found:
                found.add(mention)
                new.append(mention)
        left.append(new)
    return [entity for entity in left if entity]


def last_entities(key: Sequence[list[Mention]]) -> dict[Mention, int]:
    """The place of the last entity that has a mention."""
    found: dict[Mention, int] = {}
    for place, entity in enumerate(key):
        found.update(dict.fromkeys(entity, place))
    return found


def common_links(
    response: Sequence[list[Mention]], key: Sequence[list[Mention]]
) -> int:
    """
    Vilain et al.: the size of an entity of the response, less the number of parts into
    which the key divides it; a mention that is not in the key is a part.
    """
    links = 0
    last_entity = last_entities(key)
    for entity in response:
        homes = [last_entity.get(mention) for mention in entity]
        parts = len(set(homes) - {None}) + homes.count(None)
        links += len(entity) - parts
    return links


def b_cubed_sums(
    response: Sequence[list[Mention]], key: Sequence[list[Mention]]
) -> tuple[float, float]:
    """The sums of the mentions' recall and precision."""
    recall = precision = 0.0
    last_entity = last_entities(key)
    for entity in response:
        for mention in entity:
            home = last_entity.get(mention)
            if home is not None:
                right = [one for one in entity if one in key[home]]
                recall += len(right) / len(key[home])
                precision += len(right) / len(entity)
    return recall, precision


def best_alignment(
    response: Sequence[list[Mention]], key: Sequence[list[Mention]]
) -> float:
    """
    Luo: the greatest sum of the similarities of entities that are paired one to one.
    """
    graph = networkx.Graph()
    for other, theirs in enumerate(response):
        mentions = set(theirs)
        for place, entity in enumerate(key):
            if not mentions.isdisjoint(entity):
                common = sum(mention in mentions for mention in entity)
                similarity = 2 * common / (len(entity) + len(theirs))
                graph.add_edge(("key", place), ("response", other), weight=similarity)
    pairs = networkx.max_weight_matching(graph)
    return sum(graph.edges[pair]["weight"] for pair in pairs)
