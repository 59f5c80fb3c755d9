"""AllenNLP's ELMo computed by our biLM: the same predictions, states included."""

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("allennlp_models", reason="tested by make test-models")


from elmo_tasks.errors import InputError
from elmo_tasks.training.archives.loading import load_archive, score
from elmo_tasks.training.archives.predictors import predictor_of
from families import FAMILIES, OF_ELMO
from helpers import Trained, assert_alike, write_lines
from tests.test_flow import elmo_tasks

FAST = "ALLENNLP_ARCHIVES_FAST_ELMO"
Train = Callable[[str], Trained]


@pytest.mark.parametrize("name", OF_ELMO)
def test_predictions(
    name: str, trained: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is made from the states that the previous ones left."""
    run = trained(name)
    outputs = []
    for fast in ("0", "1"):
        monkeypatch.setenv(FAST, fast)
        loaded = load_archive(run.archive)
        predictor = predictor_of(loaded)
        lines = FAMILIES[name].lines
        found = [predictor.predict_json(line) for line in lines]
        found += predictor.predict_batch_json([*lines, *lines])
        found.append(predictor.predict_json(lines[0]))  # a smaller batch than before
        outputs.append(found)
    plain, fast_ones = outputs
    assert_alike(fast_ones, plain)
    assert plain[0] != plain[-1]  # states matter


@pytest.mark.parametrize("name", OF_ELMO)
def test_scores(name: str, trained: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    run = trained(name)
    expected = score(load_archive(run.archive), run.corpus)
    monkeypatch.setenv(FAST, "1")
    assert_alike(score(load_archive(run.archive), run.corpus), expected)


def test_without_elmo(
    trained: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = trained("coref")
    lines = write_lines("coref", tmp_path / "in.jsonl")
    monkeypatch.setenv(FAST, "1")
    with pytest.raises(InputError, match=f"{FAST}: expected a model with AllenNLP's"):
        elmo_tasks("predict", run.archive, lines)
