"""Perplexity: weighted by tokens, by file and over all files, independent of how the text is cut."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.evaluation import Perplexity, first_sentences, perplexity
from elmo_tasks.pretraining.export import TrainedModel, load_trained
from elmo_tasks.pretraining.language_model import LmOutput
from elmo_tasks.pretraining.stream import LmStates
from tests.pretraining import toy

WORDS = sorted({word for line in toy.sentences(100, seed=1) for word in line.split()})


def output(forward: float, forward_count: int, backward: float, backward_count: int) -> LmOutput:
    sums, counts = (forward, backward), (forward_count, backward_count)
    return LmOutput(*map(torch.tensor, sums), *map(torch.tensor, counts), LmStates([], []))


def test_perplexity_is_weighted_by_tokens() -> None:
    metric = Perplexity()
    metric(output(2.0, 1, 3.0, 2), unknown=1)
    metric(output(4.0, 3, 1.0, 2), unknown=2)
    for value in (math.nan, math.inf):
        with pytest.raises(InputError, match=f"backward negative log-likelihood, got {value}"):
            metric(output(2.0, 1, value, 1), unknown=0)
    report = metric.report()
    assert report.forward == pytest.approx(math.exp(6 / 4))
    assert report.backward == pytest.approx(math.exp(4 / 4))
    assert report.geometric == pytest.approx(math.exp((6 / 4 + 4 / 4) / 2))
    assert report.arithmetic == pytest.approx((math.exp(6 / 4) + math.exp(4 / 4)) / 2)
    assert (report.unknown_share, report.tokens) == (pytest.approx(3 / 8), 8)
    metric(output(8000.0, 1, 1.0, 1), unknown=0)
    assert metric.report().forward == math.inf


def test_the_interval_is_near_that_of_a_bootstrap() -> None:
    rng, metric = np.random.default_rng(1), Perplexity()
    counts = rng.integers(100, 641, 200)
    nll = rng.normal(4.0 * counts, 2.0 * counts**0.5 * 5)
    for total, count in zip(nll.tolist(), counts.tolist(), strict=True):
        metric(output(total, count, 1.1 * total, count), unknown=0)
    drawn = rng.integers(0, 200, (4000, 200))
    means = 2.1 * nll[drawn].sum(1) / (2 * counts[drawn].sum(1))
    report = metric.report()
    assert report.batches == 200
    assert np.log(report.interval) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.01)
    assert np.log(report.interval[1] / report.interval[0]) > 0.1


@pytest.fixture
def trained(tmp_path: Path) -> TrainedModel:
    toy.fake_run(tmp_path / "run", WORDS)
    return load_trained(tmp_path / "run")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(toy.sentences(20, seed=9)) + "\nsomething unheard of\n")
    return path


def test_perplexity_by_file_and_over_all(trained: TrainedModel, text: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("the cook bakes .\n" * 4)
    (first, a), (second, b), (last, both) = perplexity(trained.model, trained.vocabulary, [text, other])
    assert (first, second, last) == (str(text), str(other), "all")
    assert both.tokens == a.tokens + b.tokens
    weighted = (math.log(a.forward) * a.tokens + math.log(b.forward) * b.tokens) / both.tokens
    assert math.log(both.forward) == pytest.approx(weighted)
    ((_, capped),) = perplexity(trained.model, trained.vocabulary, [other], max_tokens=7)
    assert capped.tokens == 2 * 10
    with pytest.raises(InputError, match="max_tokens.* 0"):
        list(perplexity(trained.model, trained.vocabulary, [other], max_tokens=0))


def test_max_tokens_takes_an_equal_share_of_each_file(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text(f"{name} {name} {name}\n" * 50)
    found = list(first_sentences([tmp_path / name for name in "abc"], max_tokens=30))
    assert found == [[name] * 3 for name in "abc" for _ in range(3)]
