"""
Perplexity: weighted by tokens, by file and over all files, independent of how the text
is cut.
"""

import math
from pathlib import Path

import pytest
import torch

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.evaluation import Perplexity, perplexity
from elmo_tasks.pretraining.export import TrainedModel, load_trained
from elmo_tasks.pretraining.language_model import LmOutput
from tests.pretraining import toy


def output(
    forward: float, forward_count: int, backward: float, backward_count: int
) -> LmOutput:
    return LmOutput(
        torch.tensor([forward, backward]),
        torch.tensor([forward_count, backward_count]),
        {},
    )


def test_perplexity_is_weighted_by_tokens() -> None:
    metric = Perplexity()
    metric(output(2.0, 1, 3.0, 2), unknown=1)
    metric(output(4.0, 3, 1.0, 2), unknown=2)
    for value in (math.nan, math.inf):
        with pytest.raises(
            InputError, match=f"backward negative log-likelihood, got {value}"
        ):
            metric(output(2.0, 1, value, 1), unknown=0)
    report = metric.report()
    assert report.forward == pytest.approx(math.exp(6 / 4))
    assert report.backward == pytest.approx(math.exp(4 / 4))
    assert report.geometric == pytest.approx(math.exp((6 / 4 + 4 / 4) / 2))
    assert report.arithmetic == pytest.approx((math.exp(6 / 4) + math.exp(4 / 4)) / 2)
    assert (report.unknown_share, report.tokens) == (pytest.approx(3 / 8), 8)
    metric(output(8000.0, 1, 1.0, 1), unknown=0)
    assert metric.report().forward == math.inf


@pytest.fixture
def trained(tmp_path: Path) -> TrainedModel:
    toy.fake_run(tmp_path / "run")
    return load_trained(tmp_path / "run")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(toy.sentences(20, seed=9)) + "\nsomething unheard of\n")
    return path


def test_perplexity_by_file_and_over_all(
    trained: TrainedModel, text: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.txt"
    other.write_text("the cook bakes .\n" * 4)
    steps: list[None] = []

    def progress() -> None:
        steps.append(None)

    (first, a), (second, b), (last, both) = perplexity(
        trained.model, trained.vocabulary, [text, other], progress=progress
    )
    assert len(steps) >= 2, "a batch of each file"
    assert (first, second, last) == (str(text), str(other), "all")
    assert both.tokens == a.tokens + b.tokens
    weighted = (
        math.log(a.forward) * a.tokens + math.log(b.forward) * b.tokens
    ) / both.tokens
    assert math.log(both.forward) == pytest.approx(weighted)
    ((_, capped),) = perplexity(
        trained.model, trained.vocabulary, [other], max_tokens=7
    )
    assert capped.tokens == 2 * 10
    with pytest.raises(InputError, match="max_tokens.* 0"):
        list(perplexity(trained.model, trained.vocabulary, [other], max_tokens=0))
