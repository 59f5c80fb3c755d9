"""Scores of sentences against perplexity, their alignment with the words, and minimal pairs with ties."""

import json
import math
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.evaluation import perplexity, score_pairs, score_sentences
from elmo_tasks.pretraining.export import TrainedModel, load_trained
from tests.pretraining import toy

WORDS = sorted({word for line in toy.sentences(100, seed=1) for word in line.split()})
SENTENCES = [("the", "cook", "bakes", "."), ("salt",), ("the", "cook", "unheard", "."), ("bakes", ".")]


@pytest.fixture
def trained(tmp_path: Path) -> TrainedModel:
    toy.fake_run(tmp_path / "run", WORDS)
    return load_trained(tmp_path / "run")


def test_scores_are_the_perplexity_of_each_sentence(trained: TrainedModel, tmp_path: Path) -> None:
    scores = list(score_sentences(trained.model, trained.vocabulary, SENTENCES))
    for words, score in zip(SENTENCES, scores, strict=True):
        (tmp_path / "x").write_text(" ".join(words))
        ((_, report),) = perplexity(trained.model, trained.vocabulary, [tmp_path / "x"])
        forward, backward, mean = score.totals
        assert len(score.forward) == len(score.backward) == len(words) + 1
        assert math.exp(-forward / (len(words) + 1)) == pytest.approx(report.forward, rel=1e-4)
        assert math.exp(-backward / (len(words) + 1)) == pytest.approx(report.backward, rel=1e-4)
        assert mean == (forward + backward) / 2
    assert [score.unknown for score in scores] == [0, 0, 1, 0]


def test_each_score_belongs_to_its_word(trained: TrainedModel) -> None:
    whole, other_end, tail = score_sentences(
        trained.model, trained.vocabulary, [SENTENCES[0], ("the", "cook", "salt", "salt"), ("bakes", ".")]
    )
    assert whole.forward[:2] == pytest.approx(other_end.forward[:2], rel=1e-4), "words before do not see those after"
    assert whole.forward[2] != pytest.approx(other_end.forward[2], rel=1e-4)
    assert whole.backward[2:4] == pytest.approx(tail.backward[:2], rel=1e-4), "words after do not see those before"


def test_pairs_by_group_with_ties_counted_as_wrong(trained: TrainedModel, tmp_path: Path) -> None:
    pairs = [("the cook bakes .", "salt"), ("salt", "the cook bakes ."), ("salt", "salt"), ("unheard", "salt")]
    lines = [
        {"sentence_good": good, "sentence_bad": bad, "UID": "a" if n < 2 else "b"}
        for n, (good, bad) in enumerate(pairs)
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    first, second, all_ = score_pairs(
        trained.model, trained.vocabulary, tmp_path / "pairs.jsonl", parse=lambda text: tuple(text.split())
    )
    assert (first.group, first.pairs, first.mean, first.ties) == ("a", 2, 50.0, 0), "a pair and its reverse"
    assert (second.group, second.ties, second.unknown) == ("b", 1, 50.0) and second.mean <= 50.0
    assert (all_.group, all_.pairs, all_.ties) == ("all", 4, 1)
    assert 0 < first.low < first.mean < first.high < 100


@pytest.mark.parametrize("line", ["", "salt", '{"good": "salt"}', '{"good": "salt", "bad": 3}', "[1]", "[" * 9999])
def test_invalid_pairs(trained: TrainedModel, tmp_path: Path, line: str) -> None:
    (tmp_path / "x").write_text(line)
    with pytest.raises(InputError, match="expected (a JSON object|pairs)"):
        score_pairs(trained.model, trained.vocabulary, tmp_path / "x", parse=lambda text: tuple(text.split()))
