"""The evaluator's predictions file."""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.data.data_loaders import SimpleDataLoader

from elmo_tasks.tasks.squad.metric import best, exact_match, f1, normalize
from elmo_tasks.tasks.squad.model import SquadModel
from elmo_tasks.tasks.squad.official import SquadEvaluator
from elmo_tasks.tasks.squad.reader import SquadReader
from tests.squad.samples import FIXTURES, build


def evaluated(model: SquadModel, file: Path, written: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """The metrics of a file, and the predictions."""
    loader = SimpleDataLoader(list(SquadReader().read(file)), batch_size=2, vocab=model.vocab)
    metrics = SquadEvaluator()(model, loader, predictions_output_file=written)
    return metrics, json.loads(written.read_text(encoding="utf-8"))


def test_predictions_file_has_the_scores_of_the_model(tmp_path: Path) -> None:
    model, written = build(tmp_path), tmp_path / "out" / "predictions.json"
    _, predictions = evaluated(model, FIXTURES / "dev-v1.1.json", written)
    data = json.loads((FIXTURES / "dev-v1.1.json").read_text(encoding="utf-8"))
    asked = [one for paragraph in data["data"][0]["paragraphs"] for one in paragraph["qas"]]
    longest, other, *_ = sorted(asked, key=lambda one: -len(normalize(predictions[one["id"]])))
    longest["answers"].append({"text": f"somewhere {predictions[longest['id']]}", "answer_start": 0})
    other["answers"].append({"text": f"The {predictions[other['id']]}!", "answer_start": 0})
    (tmp_path / "dev.json").write_text(json.dumps(data))
    metrics, again = evaluated(model, tmp_path / "dev.json", written)
    assert again == predictions
    assert list(predictions) == ["or-1", "or-2", "or-3", "or-4", "or-5"]
    answers = {one["id"]: [answer["text"] for answer in one["answers"]] for one in asked}
    expected = {
        name: sum(best(score, predictions[key], golds) for key, golds in answers.items()) / len(answers)
        for name, score in (("em", exact_match), ("f1", f1))
    }
    assert 0 < expected["em"] < expected["f1"]
    assert {name: metrics[name] for name in expected} == pytest.approx(expected)
    assert [path.name for path in written.parent.iterdir()] == ["predictions.json"]
