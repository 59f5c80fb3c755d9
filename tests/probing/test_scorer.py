"""The score of word senses: known values, and the official scorer's loop."""

import random

import pytest

from elmo_tasks.probing.scorer import Score, score


def test_known_values() -> None:
    gold = {"a": ["x"], "b": ["x", "y"], "c": ["z"], "d": ["x"]}
    answers = {"a": ["x"], "b": ["y"], "c": ["x"], "elsewhere": ["x"]}
    assert score(gold, answers) == pytest.approx((200 / 3, 50, 400 / 7, 3, 4))


def test_several_answers_share_one_instance() -> None:
    assert score({"a": ["x"], "b": ["y"]}, {"a": ["x", "y"], "b": ["y"]}) == pytest.approx((75, 75, 75, 2, 2))
    assert score({"a": ["x"]}, {"a": ["x", "x", "y"]}).recall == 50  # a set, as in the official scorer
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


@pytest.mark.parametrize("seed", range(3))
def test_against_the_official_loop(seed: int) -> None:
    rng = random.Random(seed)
    gold = {str(i): set(rng.sample("uvwxyz", rng.randint(1, 3))) for i in range(40)}
    system = {str(i): set(rng.sample("uvwxyz", rng.randint(1, 2))) for i in range(5, 50) if rng.random() < 0.8}
    assert score(gold, system)[:3] == pytest.approx(official(gold, system))
