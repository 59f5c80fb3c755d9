"""The language model through `allennlp train`: it learns, it is told, and a killed run goes on where it was."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import _jsonnet
import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models.archival import load_archive

from elmo_tasks import settings
from elmo_tasks.bilm import BiLMOptions
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.data_loader import LmDataLoader, LmReader, LmVocabulary
from elmo_tasks.pretraining.evaluation import first_sentences, perplexity
from elmo_tasks.pretraining.export import load_run
from elmo_tasks.pretraining.model import BiLMModel
from elmo_tasks.pretraining.progress import CURVE_FILE, LmProgress
from elmo_tasks.pretraining.sentences import count_predictions
from elmo_tasks.pretraining.stream import LmBatch
from tests.pretraining import toy


class Killed(BaseException):
    """What a process sees of `kill -9`: nothing. It is raised where the process is to end."""


@pytest.fixture(scope="module")
def monkeypatch_module() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy.write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory, corpus: Path, monkeypatch_module: Any) -> Path:
    """A run of three epochs that nobody disturbed."""
    run = tmp_path_factory.mktemp("runs") / "whole"
    toy.train(monkeypatch_module, corpus, run)
    return run


@pytest.fixture(scope="module")
def learned_run(tmp_path_factory: pytest.TempPathFactory, corpus: Path, monkeypatch_module: Any) -> Path:
    """A run long enough to learn the toy language."""
    run = tmp_path_factory.mktemp("runs") / "learned"
    changes = {"data_loader.steps_per_epoch": 120, "trainer.num_epochs": 1, "model.dropout": 0.0}
    toy.train(monkeypatch_module, corpus, run, **changes)
    return run


def curve(run: Path) -> list[dict[str, Any]]:
    points = [json.loads(line) for line in (run / "curve.jsonl").read_text().splitlines()]
    return [{key: value for key, value in point.items() if key != "seconds"} for point in points]


def last_state(run: Path) -> dict[str, Any]:
    return torch.load(run / "model_state_e3_b0.th", weights_only=True)


def test_it_learns(learned_run: Path, corpus: Path) -> None:
    metrics = json.loads((learned_run / "metrics.json").read_text())
    unigram = toy.unigram_perplexity(corpus)
    assert 10 < unigram < 15
    entropy = math.log(4 * 2 * 6) / 10  # topics, verbs, ordered pairs of things; predictions of a sentence
    for name in ("perplexity", "forward_perplexity", "backward_perplexity"):
        assert math.exp(entropy) < metrics[f"best_validation_{name}"] < unigram / 2
    assert metrics["best_validation_unknown"] == 0


def test_the_archive_holds_the_model(whole_run: Path) -> None:
    archive = load_archive(whole_run / "model.tar.gz")
    assert isinstance(archive.model.vocab, LmVocabulary)
    assert archive.model.vocab.to_words().words[:3] == ["<S>", "</S>", "<UNK>"]
    assert "hammers" in archive.model.vocab.to_words().ids


def test_the_curve_has_a_point_for_every_validation(whole_run: Path) -> None:
    points = curve(whole_run)
    assert [point["step"] for point in points] == [10, 20, 30]
    assert [point["tokens"] for point in points] == [800, 1600, 2400]
    assert points[2]["training_loss"] < points[0]["training_loss"]
    metrics = json.loads((whole_run / "metrics_epoch_1.json").read_text())
    assert points[1]["perplexity"] == metrics["validation_perplexity"]


def test_progress_is_logged(whole_run: Path) -> None:
    log = (whole_run / "out.log").read_text()
    lines = [line for line in log.splitlines() if "tokens/s" in line]
    assert len(lines) == 6
    assert "step 30: 2,400 tokens, loss" in lines[-1]
    assert "time left 0:00:00" in lines[-1]


def test_validation_is_exact_and_starts_from_zeros(whole_run: Path, corpus: Path) -> None:
    """The metric of the run is that of the saved weights on the same file, computed apart."""
    metrics = json.loads((whole_run / "metrics.json").read_text())
    trained = load_run(whole_run)
    held_out = corpus / "lm" / "heldout.a.txt"
    ((_, report),) = perplexity(trained.model, trained.vocabulary, [held_out], rows=8)
    assert report.forward == pytest.approx(metrics["best_validation_forward_perplexity"], rel=1e-5)
    assert report.backward == pytest.approx(metrics["best_validation_backward_perplexity"], rel=1e-5)
    assert report.tokens == 2 * sum(len(line.split()) + 1 for line in held_out.read_text().splitlines())


@pytest.mark.parametrize("killed_at", [7, 17, 20])
def test_a_killed_run_goes_on_as_if_nothing_had_happened(
    tmp_path: Path, corpus: Path, whole_run: Path, monkeypatch: pytest.MonkeyPatch, killed_at: int
) -> None:
    """Killed in the first epoch, in the second, and between a validation and its checkpoint."""
    run = tmp_path / "killed"
    kill_at_step(monkeypatch, killed_at)
    with pytest.raises(Killed):
        toy.train(monkeypatch, corpus, run)
    monkeypatch.undo()
    assert not (run / "model_state_e3_b0.th").exists()
    toy.train(monkeypatch, corpus, run, "--recover")
    assert curve(run) == curve(whole_run)
    assert_same_state(last_state(run), last_state(whole_run))


def test_a_run_goes_on_with_its_own_words_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The corpus may have changed between the kill and the recovery; the words belong to the weights."""
    corpus, run = toy.write_corpus(tmp_path), tmp_path / "run"
    kill_at_step(monkeypatch, 17)
    with pytest.raises(Killed):
        toy.train(monkeypatch, corpus, run)
    monkeypatch.undo()
    saved = (run / "vocabulary" / "words.txt").read_bytes()
    (corpus / "lm" / "train.a.txt").write_text("the zebra the zebra the zebra .\n" * 200)
    with pytest.raises(InputError, match=r"words\.txt:\d+: this run began with other words: '.*' then, '.*' now"):
        toy.train(monkeypatch, corpus, run, "--recover")
    assert (run / "vocabulary" / "words.txt").read_bytes() == saved
    assert load_run(run).vocabulary.words == saved.decode().splitlines()


def kill_at_step(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """In the middle of a step; at an epoch's last step, after the validation that follows it."""
    steps = 0
    forward, on_epoch = BiLMModel.forward, LmProgress.on_epoch

    def counted(model: BiLMModel, batch: LmBatch) -> Any:
        nonlocal steps
        steps += model.training
        if steps == step and step % 10:
            raise Killed
        return forward(model, batch)

    def after_validation(callback: LmProgress, *arguments: Any, **named: Any) -> None:
        on_epoch(callback, *arguments, **named)
        if steps == step:
            raise Killed

    monkeypatch.setattr(BiLMModel, "forward", counted)
    monkeypatch.setattr(LmProgress, "on_epoch", after_validation)


def assert_same_state(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found.keys() == wanted.keys()
    states, wanted_states = found.pop("_extra_state"), wanted.pop("_extra_state")
    assert states.keys() == wanted_states.keys()
    assert len(states) == 8
    for name, value in [*wanted.items(), *wanted_states.items()]:
        assert torch.equal({**found, **states}[name], value), name


def loader(path: Any, **changes: Any) -> LmDataLoader:
    made = LmDataLoader(LmReader(), path, **({"batch_size": 3, "unroll": 4} | changes))
    made.index_with(LmVocabulary.from_corpus(files=path))
    return made


def batches(made: LmDataLoader) -> list[LmBatch]:
    return [item["batch"] for item in made]


def words(made: LmDataLoader, direction: str, found: list[LmBatch]) -> list[str]:
    """The unmasked targets of a direction, row by row."""
    ids = torch.cat([getattr(batch, f"{direction}_targets") for batch in found]).t()
    mask = torch.cat([getattr(batch, f"{direction}_mask") for batch in found]).t()
    names = made._words.words
    return [names[i] for i in ids[mask].tolist()]


@pytest.mark.parametrize(("direction", "end"), [("forward", "</S>"), ("backward", "<S>")])
def test_a_single_pass_predicts_every_token_once(corpus: Path, direction: str, end: str) -> None:
    path = corpus / "lm" / "heldout.a.txt"
    made = loader(str(path), shuffle=False)
    first = batches(made)
    assert sorted(words(made, direction, first)) == sorted(path.read_text().replace("\n", f" {end} ").split())
    again = batches(made)
    assert len(first) == len(again) > 10
    assert all(torch.equal(a.forward_targets, b.forward_targets) for a, b in zip(first, again, strict=True))


def test_a_cap_takes_an_equal_share_of_each_file(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text(f"{name} {name} {name}\n" * 50)
    found = list(first_sentences([tmp_path / name for name in "abc"], max_tokens=30))
    assert found == [[name] * 3 for name in "abc" for _ in range(3)]


def test_an_epoch_without_a_number_of_steps_is_one_pass(corpus: Path) -> None:
    path = corpus / "lm" / "train.a.txt"
    assert count_predictions([path]) == 2000
    made = loader(str(path))
    assert len(made) == 2000 // 12
    assert len(batches(made)) == 2000 // 12


def test_epochs_go_on_where_the_last_one_ended(corpus: Path) -> None:
    path = str(corpus / "lm" / "train.*.txt")
    short, long = loader(path, steps_per_epoch=5), loader(path, steps_per_epoch=15)
    pieces = [*batches(short), *batches(short), *batches(short)]
    whole = batches(long)
    assert len(pieces) == len(whole) == 15
    assert all(torch.equal(a.backward_targets, b.backward_targets) for a, b in zip(pieces, whole, strict=True))


@pytest.mark.parametrize("done", [1, 30, 400])
def test_a_position_is_enough_to_go_on(corpus: Path, done: int) -> None:
    """Within the first pass over the text and after several."""
    path = str(corpus / "lm" / "train.*.txt")
    first, second = (loader(path, steps_per_epoch=done + 3) for _ in range(2))
    stream = iter(first)
    for _ in range(done):
        next(stream)
    position = json.loads(json.dumps(first.position()))
    wanted = [item["batch"] for item in stream]
    second.resume(position, batches=done)
    skipped_and_found = list(second)
    assert skipped_and_found[:done] == [{}] * done
    found = [item["batch"] for item in skipped_and_found[done:]]
    assert len(found) == len(wanted) == 3
    for a, b in zip(found, wanted, strict=True):
        assert torch.equal(a.characters, b.characters)
        assert torch.equal(a.forward_inputs, b.forward_inputs)
        assert torch.equal(a.backward_targets, b.backward_targets)


def test_the_directions_read_different_sentences(corpus: Path) -> None:
    made = loader(str(corpus / "lm" / "train.*.txt"), steps_per_epoch=1)
    (batch,) = batches(made)
    assert sorted(words(made, "forward", [batch])) != sorted(words(made, "backward", [batch]))


def test_a_position_of_another_batch_size_is_refused(corpus: Path) -> None:
    path = str(corpus / "lm" / "train.*.txt")
    position = loader(path, batch_size=3).position()
    with pytest.raises(InputError, match="written with batch_size 3, this run has 4"):
        loader(path, batch_size=4).resume(position, batches=0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch_size": 0}, "batch_size must be at least 1, found 0"),
        ({"steps_per_epoch": 0}, "steps_per_epoch must be at least 1, found 0"),
        ({"max_tokens": 5}, "max_tokens caps a single pass"),
    ],
)
def test_impossible_loaders_are_refused(corpus: Path, changes: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        loader(str(corpus / "lm" / "train.*.txt"), **changes)


def test_the_loader_wants_its_own_vocabulary(corpus: Path) -> None:
    made = LmDataLoader(LmReader(), str(corpus / "lm" / "train.*.txt"), batch_size=1)
    with pytest.raises(InputError, match="wants the vocabulary elmo_tasks_words"):
        made.index_with(Vocabulary())
    with pytest.raises(InputError, match="wants the vocabulary elmo_tasks_words"):
        BiLMModel(Vocabulary(), toy.OPTIONS)


def test_the_vocabulary_is_counted_or_read(corpus: Path, tmp_path: Path) -> None:
    counted = LmVocabulary.from_corpus(files=str(corpus / "lm" / "train.*.txt"), size=4)
    assert counted.to_words().words[:4] == ["<S>", "</S>", "<UNK>", "the"]
    assert len(counted.to_words()) == 7
    counted.to_words().save(tmp_path / "vocabulary.txt")
    read = LmVocabulary.from_corpus(file=str(tmp_path / "vocabulary.txt"))
    read.save_to_files(str(tmp_path / "saved"))
    assert LmVocabulary.from_files(tmp_path / "saved").to_words().words == counted.to_words().words


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "give either files"),
        ({"files": "a", "file": "b"}, "give either files"),
        ({"file": "b", "size": 3}, "size and min_count go with files"),
    ],
)
def test_a_vocabulary_without_a_source_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LmVocabulary.from_corpus(**given)


@pytest.mark.parametrize(
    ("files", "message"),
    [({}, "nothing matches"), ({"train.a.txt": "\n\n", "heldout.a.txt": "a b\n"}, "no sentence")],
)
def test_a_missing_or_empty_corpus_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], message: str
) -> None:
    (tmp_path / "lm").mkdir()
    for name, text in files.items():
        (tmp_path / "lm" / name).write_text(text)
    with pytest.raises((InputError, ConfigurationError), match=message):
        toy.train(monkeypatch, tmp_path, tmp_path / "run")
    assert not list(tmp_path.glob("run/*.th"))


def test_validation_leaves_the_states_of_training_alone(corpus: Path) -> None:
    made = loader(str(corpus / "lm" / "train.*.txt"), steps_per_epoch=2)
    model = BiLMModel(LmVocabulary.of(made._words), toy.OPTIONS, dropout=0.0)
    first, second = batches(made)
    model.train()(first)
    states = model.get_extra_state()
    once = float(model.eval()(second)["nll"])
    carried = float(model(second)["nll"])
    again = float(model.eval()(second)["nll"])
    assert once == again != carried
    assert model.get_extra_state().keys() == states.keys()
    assert all(torch.equal(states[name], value) for name, value in model.get_extra_state().items())


def test_the_loss_is_scaled_and_the_metric_is_not(corpus: Path) -> None:
    made = loader(str(corpus / "lm" / "train.*.txt"), steps_per_epoch=1)
    (batch,) = batches(made)
    model = BiLMModel(LmVocabulary.of(made._words), toy.OPTIONS, dropout=0.0, loss_scale=20.0)
    outputs = model(batch)
    assert outputs["loss"].item() == pytest.approx(20 * float(outputs["nll"]))
    metrics = model.get_metrics(reset=True)
    assert metrics["perplexity"] == pytest.approx(math.exp(float(outputs["nll"])), rel=1e-5)
    assert model.get_metrics() == {}
    with pytest.raises(InputError, match="loss_scale must be above 0"):
        BiLMModel(LmVocabulary.of(made._words), toy.OPTIONS, loss_scale=0.0)


def test_a_cut_line_of_the_curve_goes(tmp_path: Path) -> None:
    callback = LmProgress(str(tmp_path))
    callback.steps = 20
    lines = ['{"step": 10}', '{"step": 20}', '{"step": 30}', '{"st']
    (tmp_path / CURVE_FILE).write_text("\n".join(lines))
    callback._drop_later_points()
    assert (tmp_path / CURVE_FILE).read_text().splitlines() == lines[:2]


def test_impossible_progress_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="every must be at least 1, found 0"):
        LmProgress(str(tmp_path), every=0)


def evaluated(scale: str, data: str = "/corpora", knobs: str = "{}") -> dict[str, Any]:
    variables = {
        settings.SCALE_VARIABLE: scale,
        settings.DATA_VARIABLE: data,
        settings.FIXTURES_VARIABLE: "/fixtures",
    }
    snippet = f"(import '{toy.CONFIG}') {knobs}"
    return json.loads(_jsonnet.evaluate_snippet("test", snippet, ext_vars=variables))


@pytest.mark.parametrize(("scale", "width"), [("mini", 32), ("small", 160), ("paper", 512)])
def test_the_config_at_each_scale(scale: str, width: int) -> None:
    config = evaluated(scale)
    assert config["train_data_path"] == "/corpora/lm/train.*.txt*"
    assert BiLMOptions.from_dict(config["model"]["options"]).projection_dim == width
    assert BiLMOptions() == BiLMOptions.from_dict(evaluated("paper")["model"]["options"])
    assert ("learning_rate_scheduler" in config["trainer"]) == (scale != "paper")


def test_a_knob_may_be_set_but_not_misspelt() -> None:
    assert evaluated("small", knobs="{ rows:: 7 }")["data_loader"]["batch_size"] == 7
    with pytest.raises(RuntimeError, match=r"unknown knob\(s\): rowz; known: .*rows"):
        evaluated("small", knobs="{ rowz:: 7 }")


def test_the_config_wants_a_data_root_and_a_scale() -> None:
    with pytest.raises(RuntimeError, match="ELMO_TASKS_DATA is not set: at scale .small."):
        evaluated("small", data="")
    with pytest.raises(RuntimeError, match="ELMO_TASKS_SCALE must be one of mini, small, paper, not .huge."):
        evaluated("huge")
