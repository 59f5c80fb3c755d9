"""
Perplexity: weighted by tokens, by file and over all files, independent of how the text
is cut.
"""

import math
from pathlib import Path

import pytest
import torch

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.export import TrainedModel, load_trained
from elmo_tasks.pretraining.language_model import LmOutput
from elmo_tasks.pretraining.scores.perplexity import (
    Perplexity,
    first_sentences,
    perplexity,
)
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


def test_metrics_of_a_training() -> None:
    metric = Perplexity()
    assert metric.get_metric() == metric.get_metric(reset=True) == {}
    metric(output(2.0, 1, 0.0, 0), unknown=0)
    assert metric.get_metric() == {}  # nothing in one direction
    metric(output(2.0, 3, 3.0, 4), unknown=2)
    expected = {
        "perplexity": math.exp((1 + 0.75) / 2),
        "forward_perplexity": math.e,
        "backward_perplexity": math.exp(0.75),
        "unknown": 0.25,
    }
    assert metric.get_metric() == pytest.approx(expected)
    assert metric.get_metric(reset=True) == pytest.approx(expected)
    assert metric.get_metric() == {}
    metric(output(1.0, 1, 1.0, 1), unknown=0)
    assert metric.get_metric()["unknown"] == 0


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (None, "a b c d e f g"),
        (1, "a e"),
        (3, "a e"),
        (4, "a e"),
        (5, "a e"),
        (6, "a b e f"),
        (100, "a b c d e f g"),
    ],
)
def test_an_equal_share_of_each_file(
    most: int | None, expected: str, tmp_path: Path
) -> None:
    """In whole sentences, here of two predictions each."""
    (tmp_path / "1").write_text("a\nb\nc\nd\n")
    (tmp_path / "2").write_text("e\nf\ng\n")
    files = [tmp_path / "1", tmp_path / "2"]
    found = [word for (word,) in first_sentences(files, max_tokens=most)]
    assert " ".join(found) == expected


def test_how_the_text_is_cut(trained: TrainedModel, text: Path) -> None:
    """
    Rows start from zeros; in one row the length of a window changes nothing. Otherwise
    it does if a row then takes other sentences: here, of 10 predictions, two for a
    window of 11 to 20.
    """
    model, vocabulary = trained.model, trained.vocabulary
    model.train()

    def measured(**options: int) -> float:
        ((name, report),) = perplexity(model, vocabulary, [text], **options)
        assert name == str(text) and not model.training
        return report.geometric

    expected = measured()
    assert expected == measured(rows=32, unroll=20)
    assert expected == pytest.approx(measured(rows=32, unroll=11), rel=1e-6)
    assert expected != pytest.approx(measured(rows=32, unroll=10), rel=1e-6)
    assert expected != pytest.approx(measured(rows=10, unroll=20), rel=1e-6)
    one_row = measured(rows=1)
    assert one_row == pytest.approx(measured(rows=1, unroll=7), rel=1e-5)
    ((_, report),) = perplexity(model, vocabulary, [text])
    assert report.tokens == 2 * (20 * 10 + 4)
    assert report.unknown_share == pytest.approx(3 / report.tokens * 2)


def test_texts_that_cannot_be_measured(trained: TrainedModel, text: Path) -> None:
    """Before anything is computed."""
    blank = text.with_name("blank.txt")
    blank.write_text("\n")
    reports = perplexity(trained.model, trained.vocabulary, [text, blank])
    with pytest.raises(InputError, match="blank.txt: no sentence in this file"):
        next(reports)
    for options in ({"rows": 0}, {"unroll": 0}):
        with pytest.raises(InputError, match="rows|unroll"):
            list(perplexity(trained.model, trained.vocabulary, [text], **options))
