"""
The language model in `elmo-tasks train`: it learns, reports its progress, and resumes
exactly.
"""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.data import Vocabulary

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.components.allennlp_vocabulary import LmVocabulary
from elmo_tasks.pretraining.components.data_loader import LmDataLoader
from elmo_tasks.pretraining.components.model import BiLMModel
from elmo_tasks.pretraining.components.reader import LmReader
from elmo_tasks.pretraining.text.stream import LmBatch
from elmo_tasks.pretraining.vocabulary import SPECIALS, WordVocabulary
from tests.pretraining import toy


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, corpus: Path) -> Path:
    """Three epochs, long enough to learn the toy language."""
    changes = {"data_loader.steps_per_epoch": 40, "model.dropout": 0.0}
    folder = tmp_path_factory.mktemp("runs") / "run"
    toy.train(corpus, folder, **changes)
    return folder


def test_it_learns_and_reports_progress(run: Path, corpus: Path) -> None:
    metrics = json.loads((run / "metrics.json").read_text())
    # Topics, verbs and ordered pairs of things; ten predictions per sentence. The
    # perplexity of the words' frequencies is 10 at least.
    least = (4 * 2 * 6) ** 0.1
    for name in ("perplexity", "forward_perplexity", "backward_perplexity"):
        assert least < metrics[f"best_validation_{name}"] < 5
    assert metrics["best_validation_unknown"] == 0
    points = list(map(json.loads, (run / "curve.jsonl").read_text().splitlines()))
    assert [(point["step"], point["tokens"]) for point in points] == [
        (40, 3200),
        (80, 6400),
        (120, 9600),
    ]
    metrics = json.loads((run / "metrics_epoch_1.json").read_text())
    assert points[1]["perplexity"] == metrics["validation_perplexity"]
    assert points[1]["training_loss"] == pytest.approx(
        metrics["training_loss"], abs=1e-4
    )


def loader(path: Any, **changes: Any) -> LmDataLoader:
    made = LmDataLoader(LmReader(), path, **({"batch_size": 3, "unroll": 4} | changes))
    made.index_with(LmVocabulary.from_corpus(files=path))
    return made


def batches(made: LmDataLoader) -> list[LmBatch]:
    return [item["batch"] for item in made]


def test_some_rows_of_a_training_batch_start_from_zeros(corpus: Path) -> None:
    """Each row is computed from carried states or from zeros, in both directions."""
    made = loader(
        str(corpus / "lm" / "train.*.txt"), batch_size=64, unroll=3, steps_per_epoch=2
    )
    first, second = batches(made)
    vocabulary = LmVocabulary.of(made._words)

    def rows_after(probability: float, begins: bool = False) -> torch.Tensor:
        """[B, 2L(D + P)]: a row's states after the second batch."""
        torch.manual_seed(5)  # of the weights
        model = BiLMModel(
            vocabulary, toy.OPTIONS, dropout=0.0, reset_probability=probability
        )
        model.train()
        model(first)
        torch.manual_seed(6)  # of the rows
        model(replace(second, begins=begins))
        states = model.carried_states()
        parts = [part for name in states for pair in states[name] for part in pair]
        return torch.cat(parts, dim=1)

    carried, zero = rows_after(0.0), rows_after(0.5, begins=True)
    mixed = rows_after(0.5)
    reset = torch.isclose(mixed, zero, atol=1e-6).all(dim=1)
    kept = torch.isclose(mixed, carried, atol=1e-6).all(dim=1)
    assert torch.equal(reset, ~kept)
    torch.manual_seed(6)
    assert torch.equal(reset, torch.rand(64) < 0.5)
    assert int(reset.sum()) in range(16, 48)


def test_evaluation_and_the_default_reset_nothing(corpus: Path) -> None:
    """Neither draws a random number, on which dropout's masks would depend."""
    made = loader(str(corpus / "lm" / "train.*.txt"), steps_per_epoch=2)
    first, second = batches(made)
    found = []
    for probability in (0.0, 0.99):
        torch.manual_seed(5)
        model = BiLMModel(
            LmVocabulary.of(made._words), toy.OPTIONS, reset_probability=probability
        )
        model.eval()
        model(first)
        drawn = torch.get_rng_state()
        found.append(float(model(second)["nll"]))
        assert torch.equal(torch.get_rng_state(), drawn)
    assert found[0] == found[1]
    model = BiLMModel(LmVocabulary.of(made._words), toy.OPTIONS, dropout=0.0)
    model.train()
    model(first)
    drawn = torch.get_rng_state()
    model(second)
    assert torch.equal(torch.get_rng_state(), drawn)


def test_loss_scale_does_not_change_the_metric(corpus: Path) -> None:
    made = loader(str(corpus / "lm" / "train.*.txt"), steps_per_epoch=1)
    model = BiLMModel(
        LmVocabulary.of(made._words), toy.OPTIONS, dropout=0.0, loss_scale=20.0
    )
    outputs = model(batches(made)[0])
    assert outputs["loss"].item() == pytest.approx(20 * outputs["nll"].item())
    assert model.get_metrics()["perplexity"] == pytest.approx(
        math.exp(outputs["nll"]), rel=1e-5
    )


def small_model(**keys: Any) -> BiLMModel:
    words = [*SPECIALS, "a", "b", "c"]
    return BiLMModel(LmVocabulary.of(WordVocabulary(words)), toy.OPTIONS, **keys)


def test_outputs_of_the_model(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """
    Of all positions that are not masked; the metrics count each batch once. Of a text
    with another vocabulary a warning is logged.
    """
    (tmp_path / "x").write_text("a b c\nc x\n")
    made = LmDataLoader(LmReader(), str(tmp_path / "x"), batch_size=2, shuffle=False)
    model = small_model()
    made.index_with(model.vocab)
    (batch,) = batches(made)
    assert batch.begins and batch.unknown == 2
    model.eval()
    output = model(batch)
    assert set(output) == {"loss", "nll", "tokens"}
    assert output["tokens"] == 4 + 3
    assert not output["nll"].requires_grad
    assert float(output["loss"]) == pytest.approx(float(output["nll"]))
    metrics = model.get_metrics()
    assert metrics["unknown"] == pytest.approx(2 / 14)
    assert model.get_metrics() == metrics
    model(batch)
    assert model.get_metrics(reset=True) == pytest.approx(metrics)
    assert model.get_metrics() == {}
    model.train()
    assert model(batch)["loss"].requires_grad
    assert not caplog.text
    model(replace(batch, unknown=8))
    assert "vocabulary of another text" in caplog.text


def test_states_for_a_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("a b c\nc x\n")
    made = LmDataLoader(
        LmReader(), str(tmp_path / "x"), batch_size=1, unroll=2, shuffle=False
    )
    model = small_model(dropout=0.0)
    made.index_with(model.vocab)
    first, second = batches(made)[:2]
    assert model.carried_states() == {}
    model.eval()(first)
    assert model.carried_states() == {}  # those of the evaluation are not of it
    model.train()(first)
    states = model.carried_states()
    assert list(states) == ["forward", "backward"]
    model.eval()(second)
    model.train()
    torch.testing.assert_close(model.carried_states(), states, rtol=0, atol=0)
    expected = model.language_model(first).states
    for direction, of_layers in states.items():
        for found, right in zip(of_layers, expected[direction], strict=True):
            for one, other in zip(found, right, strict=True):
                assert torch.equal(one, other) and not one.requires_grad
    carried = float(model(second)["nll"])
    model.set_carried_states({})
    assert float(model(second)["nll"]) != carried


def test_vocabularies_of_other_models() -> None:
    problem = "model elmo_tasks_bilm: expected the vocabulary elmo_tasks_words, got Voc"
    with pytest.raises(InputError, match=problem):
        BiLMModel(Vocabulary(), toy.OPTIONS)
