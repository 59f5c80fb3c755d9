"""Gold and predicted propositions of a whole data set, whatever the order of its batches."""

from pathlib import Path

import pytest
from allennlp.common import Params
from allennlp.data.data_loaders import SimpleDataLoader
from allennlp.evaluation import Evaluator

from elmo_tasks.errors import InputError
from elmo_tasks.srl.evaluator import SrlEvaluator
from elmo_tasks.srl.model import SrlTagger
from tests.srl.samples import build, corpus

GOLD = "\n".join(
    [
        *["- (ARG0*) (ARG0*", "- * *", "- (R-ARG0*) *", "keep (V*) *", "- (ARG1*) *", "- * *)", "sell * (V*)"],
        *["- * (ARG2*", "- * *", "- * *)", "- * (ARG1*", "- * *)", "- * *", ""],
        *["give (V* (ARG1* *", "- *) * *", "- (ARG1* * *", "- *) *) *", "- * * *", "- * (ARG0*) *", "say * (V*) *"],
        *["- * * *", "- * (C-ARG1* *", "lose * * (V*)", "- * * (ARG1*", "- * *) *)", "- * * *", ""],
        *["- (ARG0*", "- *)", "- *", "- (V*)", "- *", "sidestep (C-V*)", "- (ARG1*", "- *)", "- (ARGM-TMP*"],
        *["- *)", "- *", "", "- (ARG1*)", "fall (V*)", "- *", "", ""],
    ]
)


def loader(model: SrlTagger) -> SimpleDataLoader:
    made = SimpleDataLoader(list(reversed(corpus())), batch_size=2, shuffle=True, vocab=model.vocab)
    made.set_target_device(next(model.parameters()).device)
    return made


def test_writes_both_files(tmp_path: Path) -> None:
    model, file = build(tmp_path), tmp_path / "out" / "dev.props"
    evaluator = Evaluator.from_params(Params({"type": "elmo_tasks_srl", "cuda_device": -1}))
    scores = evaluator(model, loader(model), predictions_output_file=str(file))
    assert "f1" in scores and (tmp_path / "out" / "dev.props.gold").read_text() == GOLD
    predicted = [line.split() for line in file.read_text().splitlines()]
    gold = [line.split() for line in GOLD.splitlines()]
    assert [row[:1] for row in predicted] == [row[:1] for row in gold]
    assert [len(row) for row in predicted] == [len(row) for row in gold]
    assert sorted(path.name for path in file.parent.iterdir()) == ["dev.props", "dev.props.gold"]


def test_scores_alone(tmp_path: Path) -> None:
    model = build(tmp_path)
    assert "loss" in SrlEvaluator()(model, loader(model))


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    model = build(tmp_path)
    with pytest.raises(InputError, match="cannot write"):
        SrlEvaluator()(model, loader(model), predictions_output_file=tmp_path / "file" / "dev.props")
