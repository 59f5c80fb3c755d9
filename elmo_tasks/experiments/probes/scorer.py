"""Precision, recall and F1 of word senses as the official scorer of Raganato et al. (2017) computes them."""

from collections.abc import Collection, Hashable, Mapping
from typing import NamedTuple, TypeVar

Id = TypeVar("Id", bound=Hashable)


class Score(NamedTuple):
    """Scores in percent, and the number of instances with an answer and of all instances."""

    precision: float
    recall: float
    f1: float
    answered: int
    instances: int


def score(gold: Mapping[Id, Collection[str]], answers: Mapping[Id, Collection[str]]) -> Score:
    """
    The score of each instance's answers against its gold keys. An answer is correct if it is one of these; several
    answers share an instance. Precision is over the answered instances, recall over all. Answers to unknown instances
    are ignored.
    """
    given = {name: set(keys) for name, keys in answers.items() if keys and name in gold}
    right = sum(len(keys & set(gold[name])) / len(keys) for name, keys in given.items())
    precision = right / len(given) if given else 0.0
    recall = right / len(gold) if gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return Score(100 * precision, 100 * recall, 100 * f1, len(given), len(gold))
