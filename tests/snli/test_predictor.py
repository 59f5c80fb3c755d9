"""The SNLI predictor: tokenization, attention without padding, invalid input."""

import pytest

from elmo_tasks.snli.predictor import SnliPredictor
from elmo_tasks.snli.reader import SnliReader
from tests.snli.test_model import PAIRS, Build, build

__all__ = ["build"]


@pytest.fixture
def predictor(build: Build) -> SnliPredictor:
    return SnliPredictor(build({"at": "both"}), SnliReader())


def test_a_batch(predictor: SnliPredictor) -> None:
    inputs = [{"premise": premise, "hypothesis": hypothesis} for premise, hypothesis, _ in PAIRS]
    for result, (premise, hypothesis, _) in zip(predictor.predict_batch_json(inputs), PAIRS, strict=True):
        assert (result["premise"], result["hypothesis"]) == (premise.split(), hypothesis.split())
        first, second = len(premise.split()), len(hypothesis.split())
        assert [len(row) for row in result["premise_attention"]] == [second] * first
        assert [len(row) for row in result["hypothesis_attention"]] == [first] * second
        for row in result["premise_attention"] + result["hypothesis_attention"]:
            assert sum(row) == pytest.approx(1.0, abs=1e-5)
        assert sum(result["probabilities"].values()) == pytest.approx(1.0, abs=1e-5)
        assert result["label"] == max(result["probabilities"], key=result["probabilities"].get)
