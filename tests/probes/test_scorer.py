"""The score of word senses against the official scorer's loop."""

import random

import pytest

from elmo_tasks.experiments.probes.wsd import Score, score


def test_no_right_answer() -> None:
    for answers in ({}, {"a": []}):
        assert score({"a": ["x"]}, answers) == Score(0, 0, 0, 0, 1)
    assert score({"a": ["x"]}, {"a": ["y"]}) == Score(0, 0, 0, 1, 1)


def official(gold: dict[str, set[str]], system: dict[str, set[str]]) -> tuple[float, float, float]:
    """As in the official scorer: right and wrong shares of each instance, P = right / (right + wrong)."""
    right = wrong = 0.0
    for name, answers in system.items():
        if name in gold:
            hits = sum(answer in gold[name] for answer in answers)
            right += hits / len(answers)
            wrong += (len(answers) - hits) / len(answers)
    precision, recall = right / (right + wrong), right / len(gold)
    return 100 * precision, 100 * recall, 100 * 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("seed", range(2))
def test_against_the_official_loop(seed: int) -> None:
    rng = random.Random(seed)
    gold = {str(i): set(rng.sample("uvwxyz", rng.randint(1, 3))) for i in range(40)}
    system = {str(i): set(rng.sample("uvwxyz", rng.randint(1, 2))) for i in range(5, 50) if rng.random() < 0.8}
    assert score(gold, system)[:3] == pytest.approx(official(gold, system))
