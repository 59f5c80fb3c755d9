"""The evaluator's predictions file."""

import json
from pathlib import Path

import pytest
from allennlp.data.data_loaders import SimpleDataLoader

from elmo_tasks.tasks.squad.metric import best, exact_match, f1
from elmo_tasks.tasks.squad.official import SquadEvaluator
from tests.squad.samples import build, corpus


def test_predictions_file_has_the_scores_of_the_model(tmp_path: Path) -> None:
    model = build(tmp_path)
    written = tmp_path / "out" / "predictions.json"
    asked = corpus("dev-v1.1.json")
    loader = SimpleDataLoader(asked, batch_size=2, vocab=model.vocab)
    SquadEvaluator()(model, loader, predictions_output_file=written)
    predictions = json.loads(written.read_text(encoding="utf-8"))
    assert list(predictions) == ["or-1", "or-2", "or-3", "or-4", "or-5"]
    known = [one["metadata"].metadata for one in asked]
    by_length = sorted(known, key=lambda one: -len(predictions[one["id"]]))
    for one, words in zip(by_length[:2], ("somewhere ", "The "), strict=True):
        one["answers"].append(words + predictions[one["id"]])
    metrics = SquadEvaluator()(model, loader, predictions_output_file=written)
    assert json.loads(written.read_text(encoding="utf-8")) == predictions
    for name, score in (("em", exact_match), ("f1", f1)):
        scores = [best(score, predictions[one["id"]], one["answers"]) for one in known]
        assert metrics[name] == pytest.approx(sum(scores) / len(scores))
    assert 0 < metrics["em"] < metrics["f1"]
    assert [path.name for path in written.parent.iterdir()] == ["predictions.json"]
