"""
Callbacks by hand: the progress of a training, and the perplexity before and after
fine-tuning.
"""

import json
import logging
import math
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from elmo_tasks.pretraining.components.allennlp_vocabulary import LmVocabulary
from elmo_tasks.pretraining.components.callbacks import LmProgress, Tuning
from elmo_tasks.pretraining.components.model import BiLMModel
from elmo_tasks.pretraining.export import load_trained
from elmo_tasks.pretraining.scores.perplexity import perplexity
from elmo_tasks.pretraining.vocabulary import SPECIALS, WordVocabulary
from tests.pretraining import toy


class Clock:
    now = 100.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(time, "perf_counter", lambda: clock.now)
    clock = Clock()
    return clock


def take(progress: LmProgress, tokens: tuple[int, ...] = (30, 10)) -> None:
    """A step, of several batches."""
    outputs = [{"tokens": count} for count in tokens]
    progress.on_batch(None, [], outputs, is_training=True)


METRICS = {"training_perplexity": math.e**2, "training_loss": 9.0}
VALIDATED = {**METRICS, "validation_loss": 1.5, "validation_perplexity": 3.0}


def points_of(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "curve.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_points_of_the_curve(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "elmo_tasks")
    progress = LmProgress(tmp_path)
    take(progress, tokens=(12_345,))
    progress.on_epoch(None, METRICS, 0)
    assert not list(tmp_path.iterdir()) and caplog.messages == []
    clock.now = 250.26
    progress.on_epoch(None, VALIDATED, 0)
    point = {"step": 1, "tokens": 12_345, "seconds": 150.3, "training_loss": 2.0}
    point |= {"loss": 1.5, "perplexity": 3.0}
    assert points_of(tmp_path) == [point]
    assert list(points_of(tmp_path)[0]) == list(point)
    message = 'validation after 12,345 tokens: {"loss": 1.5, "perplexity": 3.0}'
    assert caplog.messages == [message]
    metrics = {**VALIDATED, "training_perplexity": 10.0}
    progress.on_epoch(None, metrics, 1, is_primary=False)
    assert points_of(tmp_path) == [point] and len(caplog.messages) == 1
    progress.on_epoch(None, VALIDATED, 2)
    losses = [one["training_loss"] for one in points_of(tmp_path)]
    assert losses == [2.0, 2.30259, 2.0]


def test_a_resumed_run_continues_the_progress(tmp_path: Path, clock: Clock) -> None:
    """Its seconds are those of the whole run."""
    progress = LmProgress(tmp_path / "a")
    take(progress)
    clock.now = 250.0
    progress.on_epoch(None, VALIDATED, 0)
    state = progress.state_dict()
    assert (state["steps"], state["tokens"], state["seconds"]) == (1, 40, 150.0)
    progress.on_epoch(None, VALIDATED, 1)
    assert len(state["points"]) == 1
    clock.now = 1000.0
    (tmp_path / "b").mkdir()
    resumed = LmProgress(tmp_path / "b")
    resumed.load_state_dict(state)
    clock.now = 1007.0
    take(resumed)
    resumed.on_epoch(None, VALIDATED, 1)
    assert len(state["points"]) == 1
    found = [
        (one["step"], one["tokens"], one["seconds"])
        for one in points_of(tmp_path / "b")
    ]
    assert found == [(1, 40, 150.0), (2, 80, 157.0)]
    assert resumed.state_dict()["seconds"] == 157.0


def test_the_corpus_is_closed_at_the_end(tmp_path: Path) -> None:
    released: list[bool] = []
    loader = SimpleNamespace(release=lambda: released.append(True))
    LmProgress(tmp_path).on_end(SimpleNamespace(data_loader=loader))
    assert released == [True]


@pytest.fixture
def trainer(tmp_path: Path) -> Any:
    """Of a small random biLM, with what fine-tuning reads."""
    text = tmp_path / "text.txt"
    text.write_text("\n".join(toy.sentences(5, seed=2)) + "\n")
    vocabulary = LmVocabulary.of(WordVocabulary([*SPECIALS, *toy.WORDS]))
    (tmp_path / "run").mkdir()
    return SimpleNamespace(
        model=BiLMModel(vocabulary, toy.OPTIONS),
        _validation_data_loader=SimpleNamespace(files=[text]),
        _start_after_epochs_completed=0,
    )


def measured(trainer: Any) -> float:
    ((_, report),) = perplexity(
        trainer.model.language_model,
        trainer.model.vocab.to_words(),
        trainer._validation_data_loader.files,
    )
    return report.geometric


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("knows_words", [False, True])
def test_before_fine_tuning(
    knows_words: bool, trainer: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "elmo_tasks")
    run = tmp_path / "run"
    trainer.model.knows_words = knows_words
    Tuning(run).on_start(trainer)
    assert files(run) == ["options.json", "perplexities.json"]
    found = json.loads((run / "perplexities.json").read_text())
    if knows_words:
        assert found == {"perplexity_before": pytest.approx(measured(trainer))}
        assert "before fine-tuning: perplexity 2" in caplog.text
    else:
        assert found == {}
        message = "before fine-tuning: perplexity unknown, the softmax is new"
        assert message in caplog.text
    options = json.loads((run / "options.json").read_text())
    assert options["lstm"]["dim"] == toy.OPTIONS["lstm"]["dim"]


def test_what_is_measured_once(trainer: Any, tmp_path: Path) -> None:
    """By the first process, and not again after the run was resumed."""
    run = tmp_path / "run"
    Tuning(run).on_start(trainer, is_primary=False)
    assert files(run) == []
    (run / "perplexities.json").write_text('{"perplexity_before": 5}')
    trainer.model.knows_words = True
    Tuning(run).on_start(trainer)
    assert files(run) == ["perplexities.json"]
    assert (run / "perplexities.json").read_text() == '{"perplexity_before": 5}'


def is_trained(trainer: Any) -> bool:
    found = {
        parameter.requires_grad
        for parameter in trainer.model.language_model.bilm.parameters()
    }
    assert len(found) == 1
    softmax = trainer.model.language_model.softmax
    assert softmax.weight.requires_grad and softmax.bias.requires_grad
    return found.pop()


@pytest.mark.parametrize("resumed_after", [0, 1, 2, 3])
def test_epochs_of_the_softmax_alone(
    resumed_after: int, trainer: Any, tmp_path: Path
) -> None:
    trainer._start_after_epochs_completed = resumed_after
    tuning = Tuning(tmp_path / "run", softmax_epochs=2)
    tuning.on_start(trainer, is_primary=False)
    found = []
    for epoch in range(resumed_after, 4):
        found.append(is_trained(trainer))
        tuning.on_epoch(trainer, {}, epoch)
    assert found == [False, False, True, True][resumed_after:]


@pytest.mark.parametrize(
    ("before", "warns"),
    [
        ({}, False),
        ({"perplexity_before": 1.0}, True),
        ({"perplexity_before": 1e9}, False),
    ],
)
def test_after_fine_tuning(
    before: dict[str, float],
    warns: bool,
    trainer: Any,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    run = tmp_path / "run"
    file = run / "perplexities.json"
    file.write_text(json.dumps(before))
    caplog.set_level(logging.INFO, "elmo_tasks")
    tuning = Tuning(run)
    tuning.on_end(trainer)
    tuning.on_end(trainer, {}, is_primary=False)
    assert files(run) == ["perplexities.json"]
    assert json.loads(file.read_text()) == before
    for _ in range(2):  # also where there is an older export
        file.write_text(json.dumps(before))
        tuning.on_end(trainer, {})
    expected = {**before, "perplexity": pytest.approx(measured(trainer))}
    assert json.loads(file.read_text()) == expected
    assert ("fine-tuning increased the perplexity" in caplog.text) == warns
    assert "after fine-tuning: {" in caplog.text
    exported = load_trained(run / "exported")
    assert exported.vocabulary.words == [*SPECIALS, *toy.WORDS]
    assert files(run) == ["exported", "perplexities.json"]
