from pathlib import Path

import pytest
from allennlp.common import Params
from allennlp.data.data_loaders import SimpleDataLoader
from allennlp.evaluation import Evaluator

from elmo_tasks.errors import InputError
from tests.models import Build
from tests.srl.samples import corpus

GOLD = """\
- (ARG0*) (ARG0*
- * *
- (R-ARG0*) *
keep (V*) *
- (ARG1*) *
- * *)
sell * (V*)
- * (ARG2*
- * *
- * *)
- * (ARG1*
- * *)
- * *

give (V* (ARG1* *
- *) * *
- (ARG1* * *
- *) *) *
- * * *
- * (ARG0*) *
say * (V*) *
- * * *
- * (C-ARG1* *
lose * * (V*)
- * * (ARG1*
- * *) *)
- * * *

- (ARG0*
- *)
- *
- (V*)
- *
sidestep (C-V*)
- (ARG1*
- *)
- (ARGM-TMP*
- *)
- *

- (ARG1*)
fall (V*)
- *

"""


def test_gold_and_predicted_propositions(build: Build, tmp_path: Path) -> None:
    model = build(given=corpus())
    file = tmp_path / "out" / "dev.props"
    loader = SimpleDataLoader(
        list(reversed(corpus())), batch_size=2, shuffle=True, vocab=model.vocab
    )
    loader.set_target_device(next(model.parameters()).device)
    evaluator = Evaluator.from_params(
        Params({"type": "elmo_tasks_srl", "cuda_device": -1})
    )
    scores = evaluator(model, loader, predictions_output_file=str(file))
    assert "f1" in scores and (tmp_path / "out" / "dev.props.gold").read_text() == GOLD
    predicted = [line.split() for line in file.read_text().splitlines()]
    gold = [line.split() for line in GOLD.splitlines()]
    for row, other in zip(predicted, gold, strict=True):
        assert row[:1] == other[:1]
        assert len(row) == len(other)
    assert sorted(path.name for path in file.parent.iterdir()) == [
        "dev.props",
        "dev.props.gold",
    ]
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write"):
        evaluator(
            model, loader, predictions_output_file=tmp_path / "file" / "dev.props"
        )
